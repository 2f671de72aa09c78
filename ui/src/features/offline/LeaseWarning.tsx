import { useState } from "react";
import { Button } from "../../components/Button";
import { clockText, useSecondsUntil } from "../../components/clock";
import styles from "./Offline.module.css";
import { takeOffline } from "./offline-store";
import { useExtend } from "./use-extend";

/** Says quietly that leases run out, for as long as they do. It is announced elsewhere, once and without the countdown. */
export function LeaseWarning({ deadlineMs }: { deadlineMs: number }) {
  const [hidden, hide] = useState(false);
  const seconds = useSecondsUntil(deadlineMs) ?? 0;
  const { extending, extend } = useExtend();
  if (hidden) return null;
  return (
    <section className={styles.warning} aria-label="Leases are about to lapse" data-testid="lease-warning">
      <p>
        {seconds === 0
          ? "A lease has lapsed: its exceptions may go to a colleague."
          : `The first lease lapses in ${clockText(seconds)}.`}
      </p>
      <Button look="quiet" isDisabled={extending} onPress={extend} data-testid="lease-extend">
        Extend
      </Button>
      <Button look="quiet" onPress={takeOffline}>
        Take offline…
      </Button>
      <Button look="quiet" onPress={() => hide(true)}>
        Hide
      </Button>
    </section>
  );
}
