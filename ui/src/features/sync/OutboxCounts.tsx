import type { OutboxView } from "../../generated/OutboxView";
import styles from "./SyncScreen.module.css";

/** So many answers the journal gives back when the program starts; those of this start come on top. */
const KEPT_ANSWERS = 500;

const ACCEPTED_HERE =
  "What was accepted since Countersign was started, and at most 500 from before. The database keeps them all.";

/** How many decisions are where. Zeros are shown too, so that a number is always found in the same place. */
export function OutboxCounts({ view }: { view: OutboxView | null }) {
  const { held = 0, ready = 0, sending = 0, committed = 0, refused = 0, dead = 0 } = view ?? {};
  const counts: readonly (readonly [string, number, "plain" | "attention"])[] = [
    ["Can be undone", held, "plain"],
    ["Wait to be sent", ready, "plain"],
    ["On their way", sending, "plain"],
    ["Accepted", committed, "plain"],
    ["Refused", refused, "attention"],
    ["Given up", dead, "attention"],
  ];
  return (
    <dl
      className={styles.counts}
      data-testid="outbox-counts"
      data-held={held}
      data-ready={ready}
      data-sending={sending}
      data-committed={committed}
      data-refused={refused}
      data-dead={dead}
    >
      {counts.map(([label, count, look]) => (
        <div
          key={label}
          data-attention={look === "attention" && count > 0}
          title={label === "Accepted" ? ACCEPTED_HERE : undefined}
        >
          <dt>{label}</dt>
          <dd>{label === "Accepted" && count >= KEPT_ANSWERS ? `latest ${count}` : count}</dd>
        </div>
      ))}
    </dl>
  );
}
