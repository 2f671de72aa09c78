import { useState } from "react";
import { Button as AriaButton, DialogTrigger, Popover } from "react-aria-components";
import { Button } from "../../components/Button";
import { visibleText } from "../../components/visible-text";
import { perform } from "../actions/handlers";
import menu from "./menu.module.css";
import styles from "./SelectionBar.module.css";
import type { Refusals } from "./selection-facts";

/** How many of the selection cannot be signed, and why. */
export function RefusalsButton({ refusals: { ids, reasons } }: { refusals: Refusals }) {
  const [open, setOpen] = useState(false);
  return (
    <DialogTrigger isOpen={open} onOpenChange={setOpen}>
      <AriaButton className={`${menu.trigger} ${styles.refusals}`} data-testid="refusals-button">
        {ids.length} cannot be signed <span aria-hidden="true">▴</span>
      </AriaButton>
      <Popover className={menu.popover} placement="top start" aria-label="What cannot be signed">
        <div className={menu.dialog} data-testid="refusals">
          {/* What scrolls has to be in the tab order. */}
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
          <section className={styles.reasonsFrame} aria-label="Reasons" tabIndex={0}>
            <ul className={styles.reasons}>
              {reasons.map(({ label, explanation, count }) => (
                <li key={label}>
                  <b>
                    {count} · {visibleText(label)}
                  </b>
                  <span>{visibleText(explanation)}</span>
                </li>
              ))}
            </ul>
          </section>
          <Button
            onPress={() => {
              setOpen(false);
              perform("drop-refused");
            }}
            data-testid="drop-refused"
          >
            Drop {ids.length} from the selection
          </Button>
        </div>
      </Popover>
    </DialogTrigger>
  );
}
