import { groupBy } from "../../components/group-by";
import type { CurrencyTotal } from "../../generated/CurrencyTotal";
import type { DeckRow } from "../../generated/DeckRow";

function unitsOf(amount: string): bigint {
  return BigInt(amount.replace(".", ""));
}

function textOf(units: bigint, minorUnits: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = String(units < 0n ? -units : units).padStart(minorUnits + 1, "0");
  const whole = digits.slice(0, digits.length - minorUnits);
  return minorUnits === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-minorUnits)}`;
}

type Summand = Pick<DeckRow, "amount" | "currency" | "minor_units">;

/** Control totals by currency, in whole minor units. */
export function totalsOf(rows: readonly Summand[]): CurrencyTotal[] {
  const byCurrency = groupBy(rows, ({ currency }) => currency);
  return [...byCurrency.keys()].sort().map((currency) => {
    const group = byCurrency.get(currency) ?? [];
    const minorUnits = group[0]?.minor_units ?? 2;
    const units = group.map(({ amount }) => unitsOf(amount));
    const sum = (values: bigint[]) => values.reduce((total, value) => total + value, 0n);
    const magnitudes = units.map((value) => (value < 0n ? -value : value));
    return {
      currency,
      minor_units: minorUnits,
      count: group.length,
      debits: textOf(sum(units.filter((value) => value > 0n)), minorUnits),
      credits: textOf(sum(units.filter((value) => value < 0n)), minorUnits),
      net: textOf(sum(units), minorUnits),
      largest: textOf(magnitudes.sort((a, b) => (a < b ? -1 : 1)).at(-1) ?? 0n, minorUnits),
    };
  });
}
