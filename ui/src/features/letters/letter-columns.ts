import type { LetterRow } from "../../generated/LetterRow";

export interface LetterColumn {
  id: string;
  name: string;
  right?: boolean;
  /** Left out in a narrow window; the detail says it as well. */
  wide?: boolean;
  text: (row: LetterRow) => string;
}

/** In the order on screen; their widths are in the grid's style. */
export const LETTER_COLUMNS: readonly LetterColumn[] = [
  { id: "state", name: "State", text: ({ status_words }) => status_words },
  { id: "age", name: "Age", right: true, text: ({ age_days }) => `${age_days} d` },
  { id: "owner", name: "Owner", wide: true, text: ({ owner }) => owner ?? "" },
  { id: "entity", name: "Entity", text: ({ entity }) => entity ?? "" },
  { id: "key", name: "Key", wide: true, text: ({ key }) => key ?? "" },
  { id: "field", name: "Field", text: ({ field }) => field ?? "" },
  { id: "reason", name: "Reason", text: ({ reason }) => reason },
  { id: "amount", name: "Amount", right: true, text: ({ at_risk }) => at_risk?.amount ?? "" },
  { id: "currency", name: "", text: ({ at_risk }) => at_risk?.currency ?? "" },
  { id: "tries", name: "Tries", right: true, text: ({ attempts }) => String(attempts) },
];
