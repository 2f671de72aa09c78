import { usePreferences } from "../../components/preferences-store";
import styles from "./entries.module.css";
import type { Entry } from "./sections";

export function notificationEntries(): Entry[] {
  return [{ id: "notifications", words: "notifications desktop attention refused", shown: <Notify /> }];
}

function Notify() {
  const notifications = usePreferences((state) => state.preferences.notifications);
  const change = usePreferences((state) => state.change);
  return (
    <>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={notifications}
          onChange={(event) => change({ notifications: event.target.checked })}
          data-testid="notifications"
        />
        Tell the desktop what wants attention while another window is in front
      </label>
      <p className={styles.help}>
        A decision that was refused, leases about to run out, a connection that was lost: as a count, never
        with what an exception says.
      </p>
    </>
  );
}
