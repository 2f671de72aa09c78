import { visibleText } from "../../components/visible-text";
import type { SessionView } from "../../generated/SessionView";
import { waitingWords } from "./HeaderPills";
import styles from "./StatusAnnouncer.module.css";

/** Says to a screen reader when the connection or the deck's state changes; the counting parts stay silent. */
export function StatusAnnouncer({ session }: { session: SessionView }) {
  const link = session.link.online
    ? "Online."
    : `${waitingWords(session) ?? "Offline"}. ${visibleText(session.link.problem?.message ?? "")}`;
  const deck = session.saturated ? "The deck is full, leasing is paused." : "";
  const attention = session.attention > 0 ? `${session.attention} decisions want attention.` : "";
  const leases = session.lease_warning_in_ms === null ? "" : "Leases are about to lapse: extend them.";
  return (
    <div className={styles.spoken} role="status">
      {[link, deck, leases, attention].filter(Boolean).join(" ")}
    </div>
  );
}
