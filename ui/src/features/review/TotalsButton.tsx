import { Button, DialogTrigger, Popover } from "react-aria-components";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import { TotalsTable } from "../signing/TotalsTable";
import menu from "./menu.module.css";

/** Debits, credits, net and the largest of every currency. */
export function TotalsButton({ totals, label }: { totals: readonly CurrencyTotal[]; label: string }) {
  return (
    <DialogTrigger>
      <Button className={menu.trigger} data-testid="totals-button">
        {label} <span aria-hidden="true">▴</span>
      </Button>
      <Popover className={menu.popover} placement="top start" aria-label="Totals of the selection">
        <div className={menu.dialog} data-testid="totals">
          <TotalsTable totals={totals} />
        </div>
      </Popover>
    </DialogTrigger>
  );
}
