import { Button } from "../../components/Button";
import { instantText } from "../../components/clock";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import type { HistoryEvent } from "../../generated/HistoryEvent";
import { useHistory } from "../../ipc/reads";
import styles from "./History.module.css";

/** What the database tells of the exception, its partition and its counterparty. It is asked when this is drawn for the first time. */
export function History({ id }: { id: string }) {
  const { data, error, isFetching, refetch } = useHistory(id);
  const again = (
    <Button look="quiet" isDisabled={isFetching} onPress={() => void refetch()} data-testid="history-again">
      {isFetching ? "Reading…" : "Read again"}
    </Button>
  );
  if (data === undefined) {
    return (
      <div className={styles.none}>
        {error === null ? (
          <p role="status">Asking the database…</p>
        ) : (
          <>
            <p role="alert" data-testid="history-error">
              {visibleText(error.message)}
            </p>
            {again}
          </>
        )}
      </div>
    );
  }
  const { approved, rejected, pending } = data;
  return (
    <div className={styles.history} data-testid="history">
      <Events title="This exception" events={data.exception} />
      <Events title="Its partition, latest first" events={data.partition} />
      <Events title="Its counterparty here, latest first" events={data.counterparty} />
      <p className={styles.quiet}>
        {counted(approved + rejected + pending, "exception")} of this counterparty and entity: {approved}{" "}
        approved, {rejected} rejected, {pending} undecided.
      </p>
      <p className={styles.foot}>
        <span className={styles.quiet}>As of {instantText(data.as_of, Date.now())}</span>
        {again}
      </p>
      {error !== null && <p role="alert">{visibleText(error.message)}</p>}
    </div>
  );
}

function Events({ title, events }: { title: string; events: readonly HistoryEvent[] }) {
  return (
    <div>
      <h4 className={styles.title}>{title}</h4>
      {events.length === 0 ? (
        <p className={styles.quiet}>Nothing yet.</p>
      ) : (
        <ol className={styles.events}>
          {events.map((event, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two events can be alike in everything, and the list never reorders
            <Event key={place} event={event} />
          ))}
        </ol>
      )}
    </div>
  );
}

function Event({ event: { at, words, event, actor, facts } }: { event: HistoryEvent }) {
  const besides = facts.map(({ label, value }) => `${label} ${value}`);
  return (
    <li>
      <span title={visibleText(event)}>{visibleText(words)}</span>
      <time dateTime={at}>{instantText(at, Date.now())}</time>
      {(actor !== null || besides.length > 0) && (
        <small>{visibleText([actor ?? "", ...besides].filter(Boolean).join(" · "))}</small>
      )}
    </li>
  );
}
