import { useEffect } from "react";
import { Button } from "./Button";
import { useSecondsUntil } from "./clock";
import styles from "./Toasts.module.css";
import { type Toast, useToasts } from "./toast-store";
import { visibleText } from "./visible-text";

export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  const latest = toasts.at(-1);
  const latestWithAction = toasts.findLast(({ action }) => action !== null);
  return (
    <>
      <div className={styles.stack}>
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} ownsKey={toast === latestWithAction} />
        ))}
      </div>
      {/* Apart from the cards, whose countdown would be read out every second. */}
      <div className={styles.spoken} aria-live="polite">
        {latest === undefined ? "" : visibleText(latest.text)}
      </div>
    </>
  );
}

/** `ownsKey`: the key that undoes is meant for this one. */
function ToastCard({ toast, ownsKey }: { toast: Toast; ownsKey: boolean }) {
  const dismiss = useToasts((state) => state.dismiss);
  const { id, endsAtMs, action } = toast;
  const seconds = useSecondsUntil(action === null ? null : endsAtMs);
  useEffect(() => {
    if (endsAtMs === null) return;
    const timer = setTimeout(() => dismiss(id), Math.max(0, endsAtMs - performance.now()));
    return () => clearTimeout(timer);
  }, [id, endsAtMs, dismiss]);
  return (
    <div className={`${styles.toast} ${toast.tone === "bad" ? styles.bad : ""}`} data-testid="toast">
      <span>{visibleText(toast.text)}</span>
      {action !== null && (
        <>
          <Button look="quiet" shortcut={ownsKey ? "U" : undefined} onPress={action.run} data-testid="undo">
            {action.label}
          </Button>
          <span className={styles.seconds}>{seconds} s</span>
        </>
      )}
      {endsAtMs === null && (
        <Button look="quiet" onPress={() => dismiss(id)}>
          Dismiss
        </Button>
      )}
    </div>
  );
}
