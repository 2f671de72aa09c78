import { Button } from "../../components/Button";
import { useSecondsUntil } from "../../components/clock";
import { complain } from "../../components/toast-store";
import { Window } from "../../components/Window";
import type { DrainView } from "../../generated/DrainView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import type { Timed } from "../../ipc/reads";
import { useFrame } from "../shell/frame-store";
import styles from "./DrainDialog.module.css";

/** How closing goes. It cannot be dismissed, since closing cannot be taken back; it can only be cut short. */
export function DrainDialog() {
  const drain = useFrame((state) => state.drain);
  return drain === null ? null : <Progress drain={drain} />;
}

function Progress({ drain: { value, askedAtMs } }: { drain: Timed<DrainView> }) {
  const ipc = useIpc();
  const seconds = useSecondsUntil(askedAtMs + value.gives_up_in_ms);
  const total = value.sent + value.unsent;
  return (
    <Window title="Closing Countersign" role="alertdialog" data-testid="drain-dialog">
      <progress
        className={styles.bar}
        max={Math.max(1, total)}
        value={total === 0 ? 1 : value.sent}
        aria-label="Decisions sent"
      />
      <dl className={styles.counts}>
        <div>
          <dt>Sent</dt>
          <dd>{value.sent}</dd>
        </div>
        <div>
          <dt>Still to be sent</dt>
          <dd>{value.unsent}</dd>
        </div>
        <div>
          <dt>Exceptions to give back</dt>
          <dd>{value.to_release}</dd>
        </div>
        <div>
          <dt>Gives up in</dt>
          <dd>{value.done ? "–" : `${seconds} s`}</dd>
        </div>
      </dl>
      <p className={styles.state}>{stateText(value)}</p>
      <div className={styles.actions}>
        <p>What is left is on disk and is sent the next time Countersign runs.</p>
        <Button
          autoFocus
          isDisabled={value.done}
          onPress={() => ipc.closeNow().catch((thrown) => complain(toCommandError(thrown).message))}
          data-testid="drain-close-now"
        >
          Close now
        </Button>
      </div>
    </Window>
  );
}

function stateText({ done, online, unsent }: DrainView): string {
  if (done) return "Everything is done; the window closes.";
  if (!online) return "Offline: waiting for the database to be reached.";
  return unsent > 0 ? "Online: sending decisions." : "Online: giving undecided exceptions back.";
}
