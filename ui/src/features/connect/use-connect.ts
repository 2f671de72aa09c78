import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { CommandError } from "../../generated/CommandError";
import type { Profile } from "../../generated/Profile";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { sameProfile } from "./profile-form";

const NEEDS_PASSWORD: CommandError = { code: "PASSWORD", message: "The password is needed." };

/** Saves a profile where it changed and connects with it. `known` is what stands in the way already. */
export function useConnect(session: SessionView, known: CommandError | null) {
  const ipc = useIpc();
  const client = useQueryClient();
  const [problem, setProblem] = useState(known);
  const [connecting, setConnecting] = useState(false);

  const connect = async (profile: Profile, password: string | null, remember: boolean): Promise<boolean> => {
    const keep = (value: SessionView) =>
      client.setQueryData(["session"], { value, askedAtMs: performance.now() });
    setProblem(null);
    setConnecting(true);
    try {
      const saved = session.profiles.find(({ name }) => name === profile.name) ?? null;
      if (!sameProfile(saved, profile)) keep(await ipc.saveProfile(profile));
      const connected = await ipc.connect(profile.name, password, remember);
      keep(connected);
      if (connected.needs !== "NOTHING") setProblem(connected.link.problem ?? NEEDS_PASSWORD);
      return true;
    } catch (thrown) {
      setProblem(toCommandError(thrown));
      return false;
    } finally {
      setConnecting(false);
    }
  };
  return { problem, connecting, connect, forget: () => setProblem(null) };
}
