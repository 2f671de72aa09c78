import type { NumberStyle } from "../generated/NumberStyle";
import type { Preferences } from "../generated/Preferences";
import { usePreferences } from "./preferences-store";

/** How an amount is written. */
export interface NumberFormat {
  group: string;
  /** Digits of the group next to the mark, and of the ones before it. */
  groupDigits: readonly [first: number, others: number];
  mark: string;
  negatives: Preferences["negatives"];
}

type Separators = Omit<NumberFormat, "negatives">;

const THREES = [3, 3] as const;

/** A space that is never broken at the end of a line. */
const SPACE = "\u00a0";

const SEPARATORS: Record<Exclude<NumberStyle, "SYSTEM">, Separators> = {
  COMMA_POINT: { group: ",", groupDigits: THREES, mark: "." },
  POINT_COMMA: { group: ".", groupDigits: THREES, mark: "," },
  SPACE_COMMA: { group: SPACE, groupDigits: THREES, mark: "," },
  APOSTROPHE_POINT: { group: "’", groupDigits: THREES, mark: "." },
};

/** The separators of a language; of the system's without one. India groups by twos after the first three. */
export function separatorsOf(locale?: string): Separators {
  const parts = partsOf(locale);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
  const digits = parts.filter(({ type }) => type === "integer").map(({ value }) => value.length);
  const [group, mark] = [part("group"), part("decimal")];
  // Where one is missing or stands for both, what is drawn could not be read back.
  if (group === "" || mark === "" || group === mark) return SEPARATORS.COMMA_POINT;
  return { group, groupDigits: [digits.at(-1) ?? 3, digits.at(-2) ?? 3], mark };
}

/** Nothing where the system names a language that is none, as WebKit does with "C". */
function partsOf(locale?: string): readonly Intl.NumberFormatPart[] {
  try {
    const format = new Intl.NumberFormat(locale, { useGrouping: true, numberingSystem: "latn" });
    return format.formatToParts(1_234_567_890.5);
  } catch {
    return [];
  }
}

let system: Separators | undefined;

export function numberFormat({
  numbers,
  negatives,
}: Pick<Preferences, "numbers" | "negatives">): NumberFormat {
  if (numbers !== "SYSTEM") return { ...SEPARATORS[numbers], negatives };
  system ??= separatorsOf();
  return { ...system, negatives };
}

let inForce: { preferences: Preferences; format: NumberFormat } | undefined;

/** The format the reviewer prefers now. A component that shows amounts while this may change calls `useNumberFormat`. */
export function currentNumberFormat(): NumberFormat {
  const { preferences } = usePreferences.getState();
  if (inForce?.preferences !== preferences) inForce = { preferences, format: numberFormat(preferences) };
  return inForce.format;
}

/** The same, drawn again when the reviewer changes it. */
export function useNumberFormat(): NumberFormat {
  usePreferences(({ preferences }) => `${preferences.numbers} ${preferences.negatives}`);
  return currentNumberFormat();
}

/** What was typed as a decimal string with `.` and without grouping, or what is wrong with it. */
export type TypedDecimal = { value: string; problem: null } | { value: null; problem: string };

/**
 * Reads what a reviewer typed the way amounts are drawn for them. Digits are moved, never counted. A separator where no group ends is
 * refused: who types `1,50` for one and a half must not get 150.
 */
export function readDecimal(text: string, format = currentNumberFormat()): TypedDecimal {
  const refused = { value: null, problem: `Write it as amounts are shown here, as in ${example(format)}.` };
  const inParentheses = /^\((.*)\)$/.exec(text.trim());
  const [, sign = "", rest = ""] = /^([-−]?)(.*)$/.exec((inParentheses?.[1] ?? text).trim()) ?? [];
  if (inParentheses !== null && sign !== "") return refused;
  const [whole = "", ...fractions] = rest.trim().split(format.mark);
  const fraction = fractions[0] ?? "";
  if (fractions.length > 1 || !/^\d*$/.test(fraction) || (fractions.length === 1 && fraction === "")) {
    return refused;
  }
  const groups = whole.split(new RegExp(`[${typedFor(format.group)}]`));
  if (!groups.every((group) => /^\d+$/.test(group))) return refused;
  if (!wellGrouped(groups)) {
    const words = `“${format.group}” stands before thousands here, and “${format.mark}” before decimals`;
    return { value: null, problem: `It can be read in two ways: ${words}, as in ${example(format)}.` };
  }
  const digits = groups.join("").replace(/^0+(?=\d)/, "");
  const negative = sign !== "" || inParentheses !== null;
  return {
    value: `${negative ? "-" : ""}${digits}${fraction === "" ? "" : `.${fraction}`}`,
    problem: null,
  };
}

/** The characters that a keyboard has for a group's separator, for a regular expression's class. */
function typedFor(group: string): string {
  if (group.trim() === "") return "\\s";
  return /['’]/.test(group) ? "'’" : group.replace(/[\\\]^-]/g, "\\$&");
}

/** Three digits after the last separator, two or three between others: thousands, lakhs and crores. */
function wellGrouped(groups: readonly string[]): boolean {
  if (groups.length === 1) return true;
  return groups.every((group, place) => {
    if (place === groups.length - 1) return group.length === 3;
    return place === 0 ? group.length <= 3 : group.length === 2 || group.length === 3;
  });
}

function example({ group, mark }: NumberFormat): string {
  return `1${group}234${mark}50`;
}
