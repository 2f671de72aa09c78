import { useEffect } from "react";
import { Button } from "../../components/Button";
import { Text } from "../../components/Text";
import { visibleText } from "../../components/visible-text";
import type { BacklogLine } from "../../generated/BacklogLine";
import { useFocus, useSession } from "../../ipc/reads";
import { useBacklogChoice } from "./backlog-store";
import { FocusForm } from "./FocusForm";
import styles from "./FocusPanel.module.css";
import { draftOf, EMPTY_DRAFT, focusOf, hasBounds, letsIn, problemsOf } from "./focus-draft";
import { GiveBackDialog } from "./GiveBackDialog";
import { useRecentFoci } from "./recent-foci";
import { useFocusChange } from "./use-focus-change";

const DECK_BOUND = 100;

/** The focus in force, and the next one. */
export function FocusPanel({ lines }: { lines: readonly BacklogLine[] }) {
  const focus = useFocus();
  const session = useSession();
  const { draft, load } = useBacklogChoice();
  const { foci, read } = useRecentFoci();
  const change = useFocusChange();
  useEffect(read, [read]);
  const problems = problemsOf(draft, session.data?.value.queue_maxsize ?? DECK_BOUND);
  const wrong = Object.keys(problems).length > 0;
  const blank = draft === EMPTY_DRAFT || JSON.stringify(draft) === JSON.stringify(EMPTY_DRAFT);
  const inForce = focus.data?.focus ?? null;
  const inside = lines.filter(letsIn(draft));
  const count = (of: "free" | "held") => inside.reduce((sum, line) => sum + line[of], 0);
  return (
    <section className={styles.panel} aria-label="Focus">
      <div className={styles.scroller}>
        <div className={styles.inForce} data-testid="focus-in-force">
          <span className={styles.faint}>In force</span>
          <b>
            <Text text={focus.data?.label ?? "…"} />
          </b>
          {focus.error !== null && (
            <span className={styles.problem} role="alert">
              It cannot be read: {visibleText(focus.error.message)}
            </span>
          )}
          {inForce !== null && focus.data !== undefined && (
            <span className={styles.inForceActions}>
              <Button look="quiet" isDisabled={change.busy} onPress={() => load(draftOf(inForce))}>
                Edit
              </Button>
              <Button
                look="quiet"
                isDisabled={change.busy}
                onPress={() => void change.leave(focus.data.label)}
                data-testid="leave-focus"
              >
                Leave focus
              </Button>
              {focus.data.outside > 0 && (
                <Button look="quiet" onPress={() => change.askOutside(inForce, focus.data)}>
                  {focus.data.outside} outside…
                </Button>
              )}
            </span>
          )}
        </div>
        <FocusForm problems={problems} />
        {foci !== null && foci.length > 0 && (
          <div className={styles.recent}>
            <h2 className={styles.title}>Used before</h2>
            <ul>
              {foci.map((each) => (
                <li key={JSON.stringify(each.focus)}>
                  <button type="button" className={styles.used} onClick={() => load(draftOf(each.focus))}>
                    <Text text={each.label} />
                  </button>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      <div className={styles.foot}>
        <p className={styles.faint} role="status">
          {blank
            ? "Choose rows, or fill in what you want in the deck."
            : `Lets in ${hasBounds(draft) ? "at most " : ""}${count("free")} free and ${count("held")} held.`}
        </p>
        <div className={styles.actions}>
          <Button isDisabled={blank} onPress={() => load(EMPTY_DRAFT)} data-testid="clear-focus">
            Clear
          </Button>
          <Button
            look="primary"
            isDisabled={blank || wrong}
            isBusy={change.busy}
            title={wrong ? "A field above says what is expected in it" : undefined}
            onPress={() => void change.set(focusOf(draft))}
            data-testid="set-focus"
          >
            Set focus
          </Button>
        </div>
      </div>
      {change.question !== null && (
        <GiveBackDialog
          question={change.question}
          onKeep={change.close}
          onGiveBack={() => change.question !== null && void change.giveBack(change.question)}
        />
      )}
    </section>
  );
}
