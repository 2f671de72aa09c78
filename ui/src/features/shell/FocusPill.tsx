import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import type { SessionView } from "../../generated/SessionView";
import { useFocus } from "../../ipc/reads";
import { GiveBackDialog } from "../backlog/GiveBackDialog";
import { useFocusChange } from "../backlog/use-focus-change";
import styles from "./FocusPill.module.css";
import { useFrame } from "./frame-store";
import { PillButton } from "./PillButton";

/** What fills the deck, and how much in it is of something else; it leads to where that is chosen. */
export function FocusPill({ session }: { session: SessionView }) {
  const show = useFrame((state) => state.show);
  const view = useFocus().data;
  const { question, busy, askOutside, giveBack, close } = useFocusChange();
  const inForce = session.focus === null ? null : (view?.focus ?? null);
  const outside = inForce === null ? 0 : (view?.outside ?? 0);
  return (
    <>
      <PillButton data-testid="focus-pill" onPress={() => show("backlog")}>
        <span className={styles.words}>
          <span className={styles.label} title={visibleText(session.focus ?? "")}>
            Focus: {visibleText(session.focus ?? "everything")}
          </span>
          {outside > 0 && (
            <span className={styles.outside} title="Exceptions in the deck that the focus would not let in">
              {" "}
              · {outside} outside
            </span>
          )}
        </span>
      </PillButton>
      {outside > 0 && inForce !== null && view !== undefined && (
        <Button
          look="quiet"
          isDisabled={busy}
          onPress={() => askOutside(inForce, view)}
          data-testid="give-back-outside"
        >
          Give back…
        </Button>
      )}
      {question !== null && (
        <GiveBackDialog question={question} onKeep={close} onGiveBack={() => void giveBack(question)} />
      )}
    </>
  );
}
