import { useState } from "react";
import { Busy } from "../../components/Busy";
import { Button } from "../../components/Button";
import { useSecondsUntil } from "../../components/clock";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import { Window } from "../../components/Window";
import type { LetterRow } from "../../generated/LetterRow";
import { type LetterQuestion, useLetterDesk } from "./letters-store";
import { OutcomeList } from "./OutcomeList";
import styles from "./ReplayDialog.module.css";
import { useReplay } from "./use-replay";

/** What would go in and what not, before anything is sent in again. */
export function ReplayDialog({ rows }: { rows: readonly LetterRow[] }) {
  const question = useLetterDesk((state) => state.question);
  if (question === null || question.kind === "discard") return null;
  return <Replaying question={question} rows={rows} />;
}

type Question = Exclude<LetterQuestion, { kind: "discard" }>;

function Replaying({ question, rows: now }: { question: Question; rows: readonly LetterRow[] }) {
  // What went in leaves the list behind the dialog, and keeps its name here.
  const [rows] = useState(now);
  const { ids, kind, more } = question;
  const { ask, focusRows } = useLetterDesk.getState();
  const replay = useReplay(ids);
  const { work, foreseen, done, passing, left, problem } = replay;
  const close = () => {
    replay.stop();
    ask(null);
    requestAnimationFrame(focusRows);
  };
  const begun = done.size > 0 || work === "replay";
  const over = done.size > 0 && work === null && left.length === 0;
  const ready = work === null && left.length > 0;
  const stays = ids.filter((id) => foreseen.get(id)?.passes === false);
  const failed = [...done.values()].filter(({ passes }) => !passes);
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (ready) void replay.replay();
  };
  return (
    <Window
      title={`${heading(kind, work, done.size)} ${counted(begun ? done.size + left.length : ids.length, "letter")}`}
      wide
      onClose={close}
      data-testid="replay-dialog"
    >
      {/* Before the buttons, which would take Enter for a press of their own. */}
      <div className={styles.body} onKeyDownCapture={onKeyDown}>
        <Progress replay={replay} of={work === "replay" ? passing.length : ids.length} />
        {more > 0 && (
          <p className={styles.note}>{more} more come after these: replay the cause again for them.</p>
        )}
        {!begun && left.length > 0 && (
          <p className={styles.warning}>Who sends a letter in will not be able to sign what it becomes.</p>
        )}
        {problem !== null && (
          <p className={styles.problem} role="alert" data-testid="replay-problem">
            {visibleText(problem)}
          </p>
        )}
        {begun ? (
          <>
            <OutcomeList title="Stayed" outcomes={failed} rows={rows} data-testid="replay-failed" />
            <OutcomeList
              title="Went in"
              outcomes={[...done.values()].filter(({ passes }) => passes)}
              rows={rows}
              data-testid="replay-done"
            />
          </>
        ) : (
          <>
            <OutcomeList
              title="Would stay"
              outcomes={stays.flatMap((id) => foreseen.get(id) ?? [])}
              rows={rows}
              data-testid="replay-stays"
            />
            <OutcomeList
              title="Would go in"
              outcomes={passing.flatMap((id) => foreseen.get(id) ?? [])}
              rows={rows}
              data-testid="replay-passes"
            />
          </>
        )}
        <div className={styles.actions}>
          {work === "replay" && (
            <Button onPress={replay.stop} data-testid="replay-stop">
              Stop
            </Button>
          )}
          {work === null && problem !== null && !begun && (
            <Button onPress={() => void replay.rehearse()}>Try again</Button>
          )}
          <Button autoFocus shortcut="Esc" onPress={close} data-testid="replay-close">
            Close
          </Button>
          {!over && (
            <Button
              look="primary"
              shortcut="Ctrl ⏎"
              isDisabled={left.length === 0 && work !== "replay"}
              isBusy={work !== null}
              onPress={() => void replay.replay()}
              data-testid="replay-confirm"
            >
              {done.size > 0 && left.length > 0 ? `Go on with ${left.length}` : `Replay ${left.length}`}
            </Button>
          )}
        </div>
      </div>
    </Window>
  );
}

function heading(kind: Question["kind"], work: "rehearsal" | "replay" | null, done: number): string {
  if (work === "replay") return "Replay of";
  if (done > 0) return "Replayed:";
  return kind === "rehearse" ? "Rehearsal of" : "Replay";
}

/** How far it has come, in words, on one line that is always there. */
function Progress({ replay, of }: { replay: ReturnType<typeof useReplay>; of: number }) {
  const { work, foreseen, done, passing, left, goesOnAtMs } = replay;
  const seconds = useSecondsUntil(goesOnAtMs);
  const went = [...done.values()].filter(({ passes }) => passes).length;
  if (seconds !== null) {
    return <Busy>The database asks for a pause after so many: it goes on in {seconds} s.</Busy>;
  }
  if (work === "rehearsal")
    return <Busy>{`Rehearsing ${foreseen.size} of ${of}: nothing changes by it.`}</Busy>;
  if (work === "replay") return <Busy>{`Replayed ${done.size} of ${of}.`}</Busy>;
  const words =
    done.size === 0
      ? `${passing.length} would go in, ${foreseen.size - passing.length} would stay.`
      : `${went} went in, ${done.size - went} stayed${left.length === 0 ? "" : `, ${left.length} are left`}.`;
  return (
    <p className={styles.sum} role="status" data-testid="replay-sum">
      {words}
    </p>
  );
}
