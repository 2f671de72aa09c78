import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { Button } from "../../components/Button";
import { clockText, instantText, useSecondsUntil } from "../../components/clock";
import { Text } from "../../components/Text";
import { complain } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import type { SessionView } from "../../generated/SessionView";
import { toCommandError, useIpc } from "../../ipc/ipc";
import { type Timed, useOutbox } from "../../ipc/reads";
import { BatchList } from "../batches/BatchList";
import { Attention } from "./Attention";
import { OutboxCounts } from "./OutboxCounts";
import { OutboxTable } from "./OutboxTable";
import { wantsAttention } from "./outbox-words";
import { Receipts } from "./Receipts";
import styles from "./SyncScreen.module.css";
import { type SyncTab, useSync } from "./sync-store";

const ONLINE = "Online: decisions are sent by themselves.";
const OFFLINE = "The database cannot be reached. Decisions stay on this disk.";

/** Where the decisions are: on this disk, on their way, or answered. */
export function SyncScreen({ session }: { session: Timed<SessionView> }) {
  const ipc = useIpc();
  const client = useQueryClient();
  const outbox = useOutbox();
  const { link } = session.value;
  const next = outbox.data?.value.next_attempt_in_ms ?? null;
  const seconds = useSecondsUntil(next === null ? null : (outbox.data?.askedAtMs ?? 0) + next);
  const act = (action: Promise<void>) => {
    void action
      .catch((thrown) => complain(toCommandError(thrown).message))
      .then(() => client.invalidateQueries({ queryKey: ["outbox"] }));
  };
  const oldest = outbox.data?.value.oldest_unsent ?? null;
  const attention = useMemo(() => (outbox.data?.value.rows ?? []).filter(wantsAttention), [outbox.data]);
  const { tab, show } = useSync();
  const failure =
    outbox.error === null ? null : (
      <div className={styles.failure} role="alert">
        <p>The outbox cannot be read: {visibleText(outbox.error.message)}</p>
        <Button onPress={() => void outbox.refetch()}>Try again</Button>
      </div>
    );
  return (
    <div className={styles.screen} data-testid="outbox">
      <div className={styles.summary}>
        <OutboxCounts view={outbox.data?.value ?? null} />
        <span className={styles.space} />
        <Button onPress={() => act(ipc.retryNow())} data-testid="retry-now">
          Retry now
        </Button>
      </div>
      <div className={styles.state}>
        <span className={styles.reason}>
          <Text text={link.online ? ONLINE : (link.problem?.message ?? OFFLINE)} />
        </span>
        <span>{oldest === null ? "Nothing unsent" : `Oldest unsent ${instantText(oldest, Date.now())}`}</span>
        <span>{seconds !== null && `Next attempt in ${clockText(seconds)}`}</span>
      </div>
      <Tabs className={styles.tabs} selectedKey={tab} onSelectionChange={(key) => show(key as SyncTab)}>
        <TabList className={styles.tabList} aria-label="What is shown">
          <Tab id="decisions" className={styles.tab}>
            Decisions
          </Tab>
          <Tab id="attention" className={styles.tab} data-testid="tab-attention">
            Needs attention{attention.length > 0 && <b className={styles.badge}> {attention.length}</b>}
          </Tab>
          <Tab id="confirmations" className={styles.tab} data-testid="tab-confirmations">
            Confirmations
          </Tab>
          <Tab id="receipts" className={styles.tab} data-testid="tab-receipts">
            Receipts
          </Tab>
        </TabList>
        <TabPanel id="decisions" className={styles.tabPanel}>
          {failure ?? (
            <OutboxTable
              rows={outbox.data?.value.rows ?? null}
              onRetry={(key) => act(ipc.retryDead(key))}
              onDismiss={(key) => act(ipc.dismiss(key))}
            />
          )}
        </TabPanel>
        <TabPanel id="attention" className={styles.tabPanel}>
          {failure ?? <Attention rows={attention} reviewer={session.value.reviewer} />}
        </TabPanel>
        <TabPanel id="confirmations" className={styles.tabPanel}>
          <BatchList />
        </TabPanel>
        <TabPanel id="receipts" className={styles.tabPanel}>
          <Receipts />
        </TabPanel>
      </Tabs>
    </div>
  );
}
