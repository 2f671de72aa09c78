import { type NumberFormat, readDecimal } from "../../components/number-format";
import type { Figure } from "../../generated/Figure";

/** A corrected amount as it is typed. */
export interface TypedFigure {
  amount: string;
  currency: string;
}

export type TypedFigures = ReadonlyMap<string, TypedFigure>;

/** By its digits: what is computed with is computed by the workstation. */
function overZero(decimal: string): boolean {
  return !decimal.startsWith("-") && /[1-9]/.test(decimal);
}

/** What was typed for exceptions that are still in the batch, as it is sent, and what of it does not read. */
export function readFigures(typed: TypedFigures, ids: readonly string[], format: NumberFormat) {
  const figures: Figure[] = [];
  const unread = new Map<string, string>();
  for (const id of ids) {
    const each = typed.get(id);
    if (each === undefined) continue;
    const currency = each.currency.trim().toUpperCase();
    const { value, problem } = readDecimal(each.amount, format);
    // Whether there is such a currency, and how many digits it has, is said by the workstation.
    if (value === null) unread.set(id, problem);
    else if (!overZero(value)) unread.set(id, "Write an amount over zero.");
    else if (currency === "") unread.set(id, "Write the currency, as in EUR.");
    else figures.push({ id, amount: value, currency });
  }
  return { figures, unread };
}
