import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../components/Button";
import { minuteText } from "../../components/clock";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { ExtendReply } from "../../generated/ExtendReply";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import styles from "./Offline.module.css";
import { Options } from "./Options";
import { useOffline } from "./offline-store";
import { spansAt } from "./spans";

/** Asks for longer leases, and says what came of it. */
export function TakeOfflineDialog({ session }: { session: SessionView }) {
  const ipc = useIpc();
  const client = useQueryClient();
  const { open, close } = useOffline();
  // Frozen, so that what is chosen is what was read.
  const [now] = useState(() => new Date());
  const spans = spansAt(now, session.longest_lease_ms);
  const [chosen, choose] = useState(() => spans.find(({ excluded }) => excluded === null)?.id ?? null);
  const [reply, setReply] = useState<ExtendReply | null>(null);
  const [asking, setAsking] = useState(false);
  const [problem, setProblem] = useState("");
  const span = spans.find(({ id }) => id === chosen);

  const extend = async () => {
    if (span === undefined) return;
    setAsking(true);
    setProblem("");
    try {
      setReply(await ipc.extendLeases(span.ms));
      void client.invalidateQueries({ queryKey: ["session"] });
      void client.invalidateQueries({ queryKey: ["deck"] });
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
    }
    setAsking(false);
  };

  if (reply !== null) {
    return (
      <Window title="Work taken offline" onClose={close} data-testid="offline-taken">
        <p>{visibleText(reply.message)}</p>
        {reply.lost > 0 && (
          <p className={styles.warn}>
            {counted(reply.lost, "lease")} {reply.lost === 1 ? "was" : "were"} somebody else’s by now: their
            exceptions left the deck.
          </p>
        )}
        <p className={styles.note}>
          Until then nobody else can sign these exceptions. Return what you will not finish, so that a
          colleague can.
        </p>
        <div className={styles.actions}>
          <Button onPress={() => open("return")}>Return what I won’t finish…</Button>
          <Button look="primary" autoFocus onPress={close}>
            Done
          </Button>
        </div>
      </Window>
    );
  }
  const at = (ms: number) => minuteText(new Date(now.getTime() + ms).toISOString(), now.getTime());
  return (
    <Window title="Take work offline" onClose={close} data-testid="take-offline">
      <p className={styles.note}>
        {counted(session.deck_count, "undecided exception")} {session.deck_count === 1 ? "stays" : "stay"}{" "}
        yours for longer, so that you can decide without the network. Decisions are sent when it is back.
      </p>
      <Options
        label="For how long?"
        value={chosen}
        onChange={choose}
        rows={spans.map(({ id, label, ms, excluded }) => ({
          id,
          label,
          note: excluded ?? `until ${at(ms)}`,
          disabled: excluded !== null,
        }))}
      />
      {!session.link.online && (
        <p className={styles.warn}>
          The database cannot be reached now, and only it can extend leases: try when the pill says Online.
        </p>
      )}
      <p className={styles.problem} role="alert">
        {visibleText(problem)}
      </p>
      <div className={styles.actions}>
        <Button shortcut="Esc" onPress={close}>
          Cancel
        </Button>
        <Button
          look="primary"
          isDisabled={span === undefined || session.deck_count === 0}
          isBusy={asking}
          title={session.deck_count === 0 ? "The deck is empty: there is nothing to take along" : undefined}
          onPress={() => void extend()}
          data-testid="extend"
        >
          {asking ? "Asking…" : "Take offline"}
        </Button>
      </div>
    </Window>
  );
}
