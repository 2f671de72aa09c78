import { EVERYTHING, type Setup, type SortRule } from "./setup";

/** A named way to look at the deck. */
export interface View {
  id: string;
  name: string;
  /** Shipped views leave the columns as the reviewer has them. */
  shipped: boolean;
  setup: Setup;
}

function shipped(id: string, name: string, part: Partial<Setup>): View {
  return { id, name, shipped: true, setup: { ...EVERYTHING, ...part } };
}

/** The largest difference first, whichever side it is on. Amounts of two currencies have no order. */
const LARGEST_FIRST: SortRule[] = [
  { id: "currency", desc: false },
  { id: "size", desc: true },
];

/** For close day. What is large or material is decided by policy; a view only asks for it. */
export const SHIPPED_VIEWS: readonly View[] = [
  shipped("all", "All", {}),
  shipped("zero", "Zero variance", { trait: "ZERO_VARIANCE" }),
  shipped("below", "Below materiality", { trait: "BELOW_MATERIALITY" }),
  shipped("second", "Needs second signature", { trait: "NEEDS_SECOND" }),
  shipped("oldest", "Oldest first", { sort: [{ id: "age", desc: true }] }),
  shipped("large", "Large", { trait: "LARGE", sort: LARGEST_FIRST }),
  shipped("returned", "Returned to me", { trait: "RETURNED" }),
];

export const ALL = SHIPPED_VIEWS[0] as View;

export const MOST_OWN_VIEWS = 30;
export const LONGEST_NAME = 60;

/** Whether what is on screen differs from what the view holds. */
export function isModified(view: View, setup: Setup): boolean {
  const columns = view.shipped ? view.setup.columns : setup.columns;
  return canonical({ ...setup, columns }) !== canonical(view.setup);
}

/** The same text for the same setup, whatever the order in which it was put together. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** Why a name cannot be given, or `null`. `besides` is the view that already has it. */
export function whyNotNamed(
  name: string,
  own: readonly View[],
  besides: string | null = null,
): string | null {
  const trimmed = name.trim();
  if (trimmed === "") return "Enter a name.";
  if (trimmed.length > LONGEST_NAME) return `A name has at most ${LONGEST_NAME} characters.`;
  const taken = [...SHIPPED_VIEWS, ...own].some(
    (view) => view.id !== besides && view.name.toLowerCase() === trimmed.toLowerCase(),
  );
  if (taken) return `There is a view called “${trimmed}” already.`;
  return besides === null && own.length >= MOST_OWN_VIEWS
    ? `There are ${MOST_OWN_VIEWS} views of your own: delete one first.`
    : null;
}
