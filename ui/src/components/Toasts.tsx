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
      {/* The attribute keeps them in reach while a dialog is open. */}
      <section className={styles.stack} aria-label="Messages" data-react-aria-top-layer="true">
        {/* The newest stands on top of the stack, which grows from below: the others stay where they are. */}
        {toasts.toReversed().map((toast) => (
          <ToastCard key={toast.id} toast={toast} ownsKey={toast === latestWithAction} />
        ))}
      </section>
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
  const { id, endsAtMs, action, more, content } = toast;
  const seconds = useSecondsUntil(action === null ? null : (toast.actionEndsAtMs ?? endsAtMs));
  useEffect(() => {
    if (endsAtMs === null) return;
    const timer = setTimeout(() => dismiss(id), Math.max(0, endsAtMs - performance.now()));
    return () => clearTimeout(timer);
  }, [id, endsAtMs, dismiss]);
  return (
    <div
      className={`${styles.toast} ${toast.tone === "bad" ? styles.bad : ""}`}
      // What offers no more than a look can wait behind a dialog.
      data-waits={toast.tone === "plain" && more !== null && action === null}
      data-testid="toast"
    >
      <span className={styles.words}>{visibleText(toast.text)}</span>
      {content}
      {more !== null && (
        <Button look="quiet" onPress={more.run} data-testid="toast-more">
          {more.label}
        </Button>
      )}
      {/* What leaves first stands last, so that nothing moves when it does. */}
      {action !== null && seconds !== 0 && (
        <>
          <Button look="quiet" shortcut={ownsKey ? "U" : undefined} onPress={action.run} data-testid="undo">
            {action.label}
          </Button>
          <span className={styles.seconds}>{seconds} s</span>
        </>
      )}
      {(endsAtMs === null || (more !== null && action === null)) && (
        <Button look="quiet" onPress={() => dismiss(id)}>
          Dismiss
        </Button>
      )}
    </div>
  );
}
