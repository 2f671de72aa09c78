import { useEffect } from "react";
import { Button } from "../../components/Button";
import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { CloseView } from "../../generated/CloseView";
import { useCloseOverview } from "../../ipc/reads";
import { captureWords } from "./CaptureChart";
import { CloseCharts } from "./CloseCharts";
import { CloseNumbers } from "./CloseNumbers";
import styles from "./CloseScreen.module.css";
import { CloseTable } from "./CloseTable";
import { useCloseOrder } from "./close-lines";

const READ_EVERY_MS = 60_000;

/** The close at a glance: what is left, who signs, and whether it will be done in time. */
export function CloseScreen() {
  const close = useCloseOverview();
  const { refetch } = close;
  useEffect(() => {
    const timer = setInterval(() => void refetch(), READ_EVERY_MS);
    return () => clearInterval(timer);
  }, [refetch]);
  const failure =
    close.error === null ? null : (
      <div className={styles.failure} role="alert">
        <p title={visibleText(close.error.message)}>
          The close cannot be read: {visibleText(close.error.message)}
        </p>
        <Button look="quiet" onPress={() => void refetch()}>
          Try again
        </Button>
      </div>
    );
  if (close.data === undefined) {
    return <div className={styles.waiting}>{failure ?? <p role="status">Reading the close…</p>}</div>;
  }
  return (
    <div className={styles.screen} data-testid="close">
      {/* What was read before stays in sight. */}
      {failure}
      <CloseNumbers view={close.data} />
      <CaptureAlert view={close.data} />
      <CloseCharts view={close.data} />
      <Bar view={close.data} reading={close.isFetching} onRefresh={() => void refetch()} />
      <CloseTable lines={close.data.lines} />
    </div>
  );
}

function CaptureAlert({ view }: { view: CloseView }) {
  const words = captureWords(view.capture);
  if (words === null) return null;
  return (
    <p className={styles.alert} role="status" data-testid="capture-alert">
      {visibleText(words)}
    </p>
  );
}

function Bar({ view, reading, onRefresh }: { view: CloseView; reading: boolean; onRefresh: () => void }) {
  const { filter, setFilter } = useCloseOrder();
  return (
    <div className={styles.bar}>
      <input
        className={styles.filter}
        value={filter}
        placeholder="Filter"
        aria-label="Filter by entity or tier"
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => setFilter(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") setFilter("");
        }}
      />
      <p className={styles.state} data-stale={view.stale !== null} title={visibleText(view.stale ?? "")}>
        {view.stale !== null && `${visibleText(view.stale)} · `}as of {instantText(view.as_of, Date.now())}
      </p>
      <Button isDisabled={reading} onPress={onRefresh} data-testid="refresh-close">
        Refresh
      </Button>
    </div>
  );
}
