import type { DeckRow } from "../../generated/DeckRow";
import type { EffectLine } from "../../generated/EffectLine";
import type { Figure } from "../../generated/Figure";
import type { SignRequest } from "../../generated/SignRequest";
import type { Arrival } from "./arrivals";

const MOST_EFFECTS = 500;
const MINOR_UNITS: Record<string, number> = { BHD: 3, EUR: 2, GBP: 2, JPY: 0, USD: 2 };

/** What approving does, for what is not just a variance; computed in Rust by the real workstation. */
export function effectsOf(
  rows: readonly DeckRow[],
  arrivals: ReadonlyMap<string, Arrival>,
  figures: readonly Figure[] = [],
): EffectLine[] {
  return rows.slice(0, MOST_EFFECTS).flatMap((row): EffectLine[] => {
    const arrival = arrivals.get(row.id);
    const text = (name: string) => String(arrival?.payload[name] ?? "");
    if (row.kind === "sales_claim") {
      const amount = text("contract_amount");
      const working = `${text("qualifying_units")} × ${text("tier_rate")} = ${amount} ${row.currency}`;
      const words = `posts ${working} by agreement version ${text("agreement_version")}`;
      return [{ id: row.id, words, figure: { id: row.id, amount, currency: row.currency }, read: null }];
    }
    if (row.kind !== "receipt") return [];
    const extracted = text("extracted_amount");
    const read = extracted === "" ? "nothing" : `${extracted} ${row.currency}`;
    const own = figures.find(({ id }) => id === row.id);
    const reads = /^-?\d+(\.\d+)?$/.test(extracted);
    const asRead = reads ? `${read} as it was read` : "the amount that you enter";
    const amount = own === undefined ? asRead : `${own.amount} ${own.currency}, ${read} was read`;
    return [{ id: row.id, words: `releases it to policy validation with ${amount}`, figure: null, read }];
  });
}

/** Refuses a figure that does not fit its currency, as the real workstation does. */
export function checkFigures({ figures }: SignRequest) {
  for (const { amount, currency } of figures) {
    if (/^-|^0*\.?0*$/.test(amount)) {
      throw { code: "FIGURE", message: `\`${amount}\` is not over zero: nothing was signed.` };
    }
    const units = MINOR_UNITS[currency];
    if (units === undefined) {
      throw { code: "FIGURE", message: `\`${currency}\` is not an ISO 4217 currency: nothing was signed.` };
    }
    const places = amount.split(".")[1]?.length ?? 0;
    if (places > units) {
      const message = `\`${amount}\` has ${places} decimal places, ${currency} has ${units}: nothing was signed.`;
      throw { code: "FIGURE", message };
    }
  }
}
