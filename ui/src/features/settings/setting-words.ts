import { formatDecimal } from "../../components/money";
import type { SettingRow } from "../../generated/SettingRow";

const PARTS_MS = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;

/** A length of time in the units a person thinks in: `15 min`, `1 h 30 min`, `0 s`. */
function duration(ms: number): string {
  let left = ms;
  const parts: string[] = [];
  for (const [unit, size] of PARTS_MS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

/** The value of a setting in words: times as times, everything else with its unit. */
export function valueWords(value: number, unit: string): string {
  if (unit === "ms") return duration(value);
  if (unit === "s") return duration(value * 1_000);
  const one = value === 1 && unit.endsWith("s") ? unit.slice(0, -1) : unit;
  return `${formatDecimal(String(value))} ${one}`;
}

/** The values it can have, with the unit once where it is the same. */
export function rangeWords({ least, most, unit }: Pick<SettingRow, "least" | "most" | "unit">): string {
  const from = isTime(unit) ? valueWords(least, unit) : formatDecimal(String(least));
  return `${from} to ${valueWords(most, unit)}`;
}

/** Whether the words say more than the number with its unit. */
export function isTime(unit: string): boolean {
  return unit === "ms" || unit === "s";
}

/** Where the value in force comes from. */
export function sourceWords({ source, origin }: Pick<SettingRow, "source" | "origin">): string {
  const from = origin === null ? "" : ` ${origin}`;
  switch (source) {
    case "DEFAULT":
      return "Default";
    case "FILE":
      return `From the file${from}`;
    case "ENVIRONMENT":
      return `From the environment${from}`;
    case "POLICY":
      return `From the policy${from}`;
  }
}

/** Reads what was typed. Only that it is a whole number is asked here; the range is known on the other side. */
export function readWhole(text: string): number | null {
  return /^\d{1,15}$/.test(text.trim()) ? Number.parseInt(text, 10) : null;
}
