import { useEffect, useRef } from "react";
import { Button } from "../../components/Button";
import { useBatches } from "../../ipc/reads";
import styles from "./BatchProgress.module.css";
import { useBatchActions } from "./use-batch-actions";

interface BatchProgressProps {
  batch: string;
  /** How many were signed: how many of them are answered is heard of later. */
  count: number;
  /** Every decision is answered, or was taken back. */
  onDone: () => void;
}

/** How far a confirmation has come, for one that takes a while or waits for the network. */
export function BatchProgress({ batch, count, onDone }: BatchProgressProps) {
  const batches = useBatches();
  const { takeBack } = useBatchActions();
  const row = batches.data?.find((each) => each.batch === batch);
  const { signed = count, waiting = count, unsent = 0 } = row ?? {};
  const listed = useRef(false);
  // A confirmation that was withdrawn whole is not listed any more.
  const done = row === undefined ? listed.current : waiting === 0;
  useEffect(() => {
    if (row !== undefined) listed.current = true;
  }, [row]);
  useEffect(() => {
    if (done) onDone();
  }, [done, onDone]);
  if (done) return null;
  return (
    <span className={styles.progress} data-testid="batch-progress">
      <progress max={signed} value={signed - waiting} aria-label="Decisions that are answered" />
      <span className={styles.words}>
        {signed - waiting} answered, {waiting} waiting
      </span>
      <Button
        look="quiet"
        isDisabled={unsent === 0}
        title={unsent === 0 ? "Everything is on its way already" : `${unsent} were not sent yet`}
        onPress={() => void takeBack(batch)}
        data-testid="take-back"
      >
        Take back what is not sent
      </Button>
    </span>
  );
}
