import { Busy } from "../../components/Busy";
import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { instantText } from "../../components/clock";
import { visibleText } from "../../components/visible-text";
import type { LetterView } from "../../generated/LetterView";
import { useLetter } from "../../ipc/reads";
import { perform } from "../actions/handlers";
import { useKeyOf, writtenKey } from "../actions/keymap";
import { kindWord } from "../review/words";
import styles from "./LetterDetail.module.css";
import { LetterEditor } from "./LetterEditor";
import { LetterPayload } from "./LetterPayload";
import { LetterRecord } from "./LetterRecord";
import { letterText } from "./letter-text";
import { useLetterDesk } from "./letters-store";

/** One letter: what is wrong with it, what it says, and what was done about it. */
export function LetterDetail({ id }: { id: string }) {
  const letter = useLetter(id);
  const editing = useLetterDesk((state) => state.editing === id);
  const view = letter.data;
  return (
    <section className={styles.detail} aria-label="The letter" data-testid="letter-detail">
      {view === undefined ? (
        letter.error === null ? (
          <Busy>Reading the letter…</Busy>
        ) : (
          <div className={styles.failure} role="alert">
            <p>{visibleText(letter.error.message)}</p>
            <Button look="quiet" onPress={() => void letter.refetch()}>
              Try again
            </Button>
          </div>
        )
      ) : (
        <>
          <Head view={view} editing={editing} />
          <div className={styles.panes}>
            {editing && view.body !== null ? <LetterEditor view={view} /> : <LetterPayload view={view} />}
            <LetterRecord view={view} />
          </div>
        </>
      )}
    </section>
  );
}

function Head({ view, editing }: { view: LetterView; editing: boolean }) {
  const { row } = view;
  const keyOf = useKeyOf();
  const key = keyOf("letter-fix");
  return (
    <div className={styles.head}>
      <div className={styles.what}>
        <p className={styles.reason} data-testid="letter-reason">
          <b>{visibleText(row.cause_words)}</b>
          {row.field !== null && (
            <>
              {" "}
              · <code>{visibleText(row.field)}</code>
            </>
          )}
          : {visibleText(row.reason)}
        </p>
        <p className={styles.facts}>
          {[row.kind === null ? null : kindWord(row.kind), row.entity, row.status_words]
            .filter((part) => part !== null)
            .map(visibleText)
            .join(" · ")}
          {` · from ${visibleText(row.origin)}, first on ${instantText(row.first_at, Date.now())}`}
          {row.key !== null && (
            <>
              {" · key "}
              <code>{visibleText(row.key)}</code>
            </>
          )}
        </p>
      </div>
      {!editing && view.body !== null && (
        <Button
          shortcut={key === "" ? undefined : writtenKey(key)}
          onPress={() => perform("letter-fix")}
          data-testid="letter-fix"
        >
          Correct
        </Button>
      )}
      <CopyButton what="letter" text={letterText(view)} look="plain" data-testid="letter-copy" />
    </div>
  );
}
