import { useQueryClient } from "@tanstack/react-query";
import { complain, say } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import type { LetterOutcome } from "../../generated/LetterOutcome";
import type { LettersReply } from "../../generated/LettersReply";
import { toCommandError, useIpc } from "../../ipc/ipc";

/** As many letters as one call takes. */
export const LETTERS_A_CALL = 100;

/** A list in parts that a call takes. */
export function parts<T>(list: readonly T[], size = LETTERS_A_CALL): T[][] {
  const found: T[][] = [];
  for (let from = 0; from < list.length; from += size) found.push(list.slice(from, from + size));
  return found;
}

/** What is done with letters besides correcting them. */
export function useLetterCalls() {
  const ipc = useIpc();
  const client = useQueryClient();
  const reread = () =>
    Promise.all(["letters", "letter"].map((key) => client.invalidateQueries({ queryKey: [key] })));

  /** Answers what became of each; a failure is told, with how far it came. */
  const each = async (
    ids: readonly string[],
    call: (some: readonly string[]) => Promise<LettersReply>,
    tell: (text: string) => void = say,
  ) => {
    const told: LetterOutcome[] = [];
    let message = "";
    try {
      for (const some of parts(ids)) {
        const reply = await call(some);
        told.push(...reply.letters);
        message = reply.message;
      }
      const stayed = told.filter(({ passes }) => !passes);
      const [first] = stayed;
      if (first === undefined) tell(ids.length > LETTERS_A_CALL ? `${told.length} letters: done.` : message);
      else if (stayed.length === told.length) complain(visibleText(first.words));
      else say(`${told.length - stayed.length} of ${told.length} done. ${visibleText(first.words)}`);
    } catch (thrown) {
      const came = told.length === 0 ? "" : `${told.length} of ${ids.length} were done. `;
      complain(`${came}${toCommandError(thrown).message}`);
    }
    await reread();
    return told;
  };

  return {
    reread,
    take: (ids: readonly string[]) => each(ids, (some) => ipc.takeLetters(some, false)),
    /** What is seen to happen is not said. */
    takeQuietly: (ids: readonly string[]) =>
      each(
        ids,
        (some) => ipc.takeLetters(some, false),
        () => undefined,
      ),
    putBack: (ids: readonly string[]) => each(ids, (some) => ipc.takeLetters(some, true)),
    discard: (ids: readonly string[], reason: string) =>
      each(ids, (some) => ipc.discardLetters(some, reason)),
  };
}
