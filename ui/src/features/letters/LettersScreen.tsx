import { useEffect, useMemo, useState } from "react";
import { Busy } from "../../components/Busy";
import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import type { CommandError } from "../../generated/CommandError";
import type { DeskView } from "../../generated/DeskView";
import type { SessionView } from "../../generated/SessionView";
import { useLetters } from "../../ipc/reads";
import { CauseList } from "./CauseList";
import { DiscardDialog } from "./DiscardDialog";
import { LetterBar } from "./LetterBar";
import { LetterDetail } from "./LetterDetail";
import { LetterGrid } from "./LetterGrid";
import styles from "./LettersScreen.module.css";
import { filtered } from "./letter-text";
import { useLetterDesk } from "./letters-store";
import { ReplayDialog } from "./ReplayDialog";
import { useLetterActions } from "./use-letter-actions";

/** Colleagues work at the same desk. */
const READ_EVERY_MS = 30_000;
const SETTLES_AFTER_MS = 100;

/** What did not get in or could not be worked on, by cause, and what can be done about it. */
export function LettersScreen({ session }: { session: SessionView }) {
  if (!session.desk) return <NoRight reviewer={session.reviewer} />;
  return <Desk online={session.link.online} />;
}

function Desk({ online }: { online: boolean }) {
  const { cause, done } = useLetterDesk();
  const query = useMemo(() => ({ causes: cause === null ? [] : [cause], done }), [cause, done]);
  const desk = useLetters(query);
  const { refetch } = desk;
  useEffect(() => {
    if (!online) return;
    void refetch();
    const timer = setInterval(() => void refetch(), READ_EVERY_MS);
    return () => clearInterval(timer);
  }, [online, refetch]);
  if (desk.data === undefined) {
    return (
      <div className={styles.waiting} data-testid="letters-waiting">
        {desk.error === null ? (
          <Busy>Reading the desk…</Busy>
        ) : (
          <Failure error={desk.error} onRetry={() => void refetch()} />
        )}
      </div>
    );
  }
  return (
    <Letters view={desk.data} error={desk.error} reading={desk.isFetching} onRefresh={() => void refetch()} />
  );
}

interface LettersProps {
  view: DeskView;
  error: CommandError | null;
  reading: boolean;
  onRefresh: () => void;
}

function Letters({ view, error, reading, onRefresh }: LettersProps) {
  const { cause, done, filter, selection, editing } = useLetterDesk();
  const rows = useMemo(() => filtered(view.letters, filter), [view.letters, filter]);
  const chosen = useMemo(() => rows.filter(({ id }) => selection.selected.has(id)), [rows, selection]);
  const current = rows.find(({ id }) => id === selection.cursor) ?? null;
  const settled = useSettled(current?.id ?? null);
  useLetterActions({ view, rows, chosen, current, onRefresh });
  const nothing = view.causes.length === 0 && view.letters.length === 0;
  return (
    <div className={styles.screen} data-testid="letters">
      <CauseList causes={view.causes} chosen={cause} />
      <div className={styles.work} data-editing={(editing !== null && editing === current?.id) || undefined}>
        {error !== null && <Failure error={error} onRetry={onRefresh} />}
        <LetterBar
          shown={rows.length}
          of={view.letters.length}
          more={view.more}
          chosen={chosen}
          current={current}
          reading={reading}
          onRefresh={onRefresh}
        />
        <LetterGrid
          rows={rows}
          empty={
            <div className={styles.empty} role="status" data-testid="letters-empty">
              {nothing ? (
                <>
                  <b>Nothing is dead</b>
                  <p>Every arrival went in, and no workstation gave anything up.</p>
                </>
              ) : view.letters.length === 0 ? (
                <p>{done ? "Nothing is or was of this cause." : "Nothing is left of this cause."}</p>
              ) : (
                <p>Nothing matches “{visibleText(filter)}”.</p>
              )}
            </div>
          }
        />
        {settled !== null && <LetterDetail key={settled} id={settled} />}
      </div>
      <ReplayDialog rows={view.letters} />
      <DiscardDialog />
    </div>
  );
}

/** What the keyboard rests on: rows that are only passed are not asked for. */
function useSettled(id: string | null): string | null {
  const [settled, settle] = useState(id);
  useEffect(() => {
    const timer = setTimeout(() => settle(id), settled === null ? 0 : SETTLES_AFTER_MS);
    return () => clearTimeout(timer);
  }, [id, settled]);
  return id === null ? null : settled;
}

function Failure({ error, onRetry }: { error: CommandError; onRetry: () => void }) {
  return (
    <div className={styles.failure} role="alert" data-testid="letters-failure">
      <p>
        {visibleText(error.message)}
        {error.code === "UNREACHABLE" && " Nothing of the desk is on this computer."}
      </p>
      <Button look="quiet" onPress={onRetry}>
        Try again
      </Button>
    </div>
  );
}

function NoRight({ reviewer }: { reviewer: string | null }) {
  return (
    <div className={styles.waiting} data-testid="letters-no-right">
      <p role="status">
        {reviewer === null
          ? "The desk of dead letters is there once you are signed in."
          : "You have no right to the desk of dead letters. A supervisor gives it: countersign-admin reviewer dead-letters, with your login and --on."}
      </p>
    </div>
  );
}
