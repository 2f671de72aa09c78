import { useRef, useState } from "react";
import type { CommandError } from "../../generated/CommandError";
import type { ConnectionTest } from "../../generated/ConnectionTest";
import type { Profile } from "../../generated/Profile";
import { toCommandError, useIpc } from "../../ipc/ipc";

/** Tries a connection without keeping anything of it. An answer about fields that were changed meanwhile is dropped. */
export function useConnectionTest() {
  const ipc = useIpc();
  const [result, setResult] = useState<ConnectionTest | null>(null);
  const [problem, setProblem] = useState<CommandError | null>(null);
  const [testing, setTesting] = useState(false);
  const asked = useRef(0);

  const forget = () => {
    asked.current += 1;
    setResult(null);
    setProblem(null);
    setTesting(false);
  };
  const run = async (profile: Profile, password: string | null) => {
    forget();
    const mine = asked.current;
    setTesting(true);
    try {
      const answer = await ipc.testConnection(profile, password);
      if (asked.current === mine) setResult(answer);
      return asked.current === mine ? answer : null;
    } catch (thrown) {
      if (asked.current === mine) setProblem(toCommandError(thrown));
      return null;
    } finally {
      if (asked.current === mine) setTesting(false);
    }
  };
  return { result, problem, testing, run, forget };
}
