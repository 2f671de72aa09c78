import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { complain, say } from "../../components/toast-store";
import { toCommandError, useIpc } from "../../ipc/ipc";

/** The length of a lease while the settings cannot be read. */
const USUAL_MS = 15 * 60_000;

/** Extends every lease by its usual length. */
export function useExtend(): { extending: boolean; extend: () => void } {
  const ipc = useIpc();
  const client = useQueryClient();
  const [extending, setExtending] = useState(false);
  const run = async () => {
    setExtending(true);
    try {
      const settings = await ipc.settings().catch(() => null);
      const usual = settings?.rows.find(({ name }) => name === "lease_timeout_ms")?.value ?? USUAL_MS;
      say((await ipc.extendLeases(usual)).message);
    } catch (thrown) {
      complain(toCommandError(thrown).message);
    }
    setExtending(false);
    void client.invalidateQueries({ queryKey: ["session"] });
    void client.invalidateQueries({ queryKey: ["deck"] });
  };
  return { extending, extend: () => void run() };
}
