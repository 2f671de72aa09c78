import { afterEach, describe, expect, test, vi } from "vitest";
import type { Negatives } from "../generated/Negatives";
import type { NumberStyle } from "../generated/NumberStyle";
import { alignmentPad, formatAmount, formatDecimal } from "./money";
import { currentNumberFormat, numberFormat, readDecimal, separatorsOf } from "./number-format";
import { SHIPPED, usePreferences } from "./preferences-store";

afterEach(() => usePreferences.setState({ preferences: SHIPPED }));

const as = (numbers: NumberStyle, negatives: Negatives = "PARENTHESES") =>
  numberFormat({ numbers, negatives });

describe("separators", () => {
  test.each<[NumberStyle, string, string]>([
    ["COMMA_POINT", "1,234,567.89", "(1,061,006.00)"],
    ["POINT_COMMA", "1.234.567,89", "(1.061.006,00)"],
    ["SPACE_COMMA", "1\u00a0234\u00a0567,89", "(1\u00a0061\u00a0006,00)"],
    ["APOSTROPHE_POINT", "1’234’567.89", "(1’061’006.00)"],
  ])("%s writes %s", (style, positive, negative) => {
    expect(formatAmount("1234567.89", 2, as(style))).toBe(positive);
    expect(formatAmount("-1061006", 2, as(style))).toBe(negative);
    expect(formatAmount("-1061006", 2, as(style, "MINUS"))).toBe(`-${negative.slice(1, -1)}`);
  });

  test.each([
    ["de-DE", ".", ",", [3, 3]],
    ["en-IN", ",", ".", [3, 2]],
    ["fr-FR", "\u202f", ",", [3, 3]],
    ["ar-EG", ",", ".", [3, 3]],
  ])("the ones of %s are the system’s own", (locale, group, mark, groupDigits) => {
    expect(separatorsOf(locale)).toEqual({ group, mark, groupDigits });
  });

  test("India’s lakhs and crores are groups of two", () => {
    const format = { ...separatorsOf("en-IN"), negatives: "MINUS" as const };
    expect(formatAmount("-1234567890.5", 2, format)).toBe("-1,23,45,67,890.50");
    expect(formatAmount("999", 0, format)).toBe("999");
    expect(formatAmount("1000", 0, format)).toBe("1,000");
  });
});

test.each([
  // Where a floating-point number would lose digits.
  ["9007199254740993.01", 2, "9,007,199,254,740,993.01"],
  ["79228162514264337593543950335", 0, "79,228,162,514,264,337,593,543,950,335"],
  ["0.1234567890123456789012345678", 2, "0.1234567890123456789012345678"],
  // More digits than the currency has are shown, not rounded.
  ["10.005", 2, "10.005"],
  ["10.500", 2, "10.50"],
  ["000012.3", 2, "12.30"],
  ["-0.00", 2, "0.00"],
  ["-0.01", 2, "(0.01)"],
  ["12", 3, "12.000"],
  ["1e9", 2, "1e9"],
  ["", 2, ""],
])("%s with %i digits reads %s", (amount, minorUnits, text) => {
  expect(formatAmount(amount, minorUnits, as("COMMA_POINT"))).toBe(text);
});

test("a decimal of evidence keeps its digits in every style", () => {
  expect(formatDecimal("-1234.50", as("POINT_COMMA", "MINUS"))).toBe("-1.234,50");
});

test.each<Negatives>(["PARENTHESES", "MINUS"])("with %s the marks of a column meet", (negatives) => {
  const format = as("POINT_COMMA", negatives);
  const places = (amount: string, digits: number) => {
    const text = formatAmount(amount, digits, format) + alignmentPad(amount, digits, format);
    return [...text.slice(text.match(/^[(-]?[\d.]+/)?.[0].length)]
      .map((each) => (/\d/.test(each) ? "0" : each))
      .sort();
  };
  const all = [
    places("500", 0),
    places("8.98", 2),
    places("7.125", 3),
    places("-10.00", 2),
    places("-3000", 0),
  ];
  expect(new Set(all.map((each) => each.join(""))).size).toBe(1);
  expect(all[0]?.includes(")")).toBe(negatives === "PARENTHESES");
});

test("what the reviewer prefers is in force at once", () => {
  usePreferences.setState({ preferences: { ...SHIPPED, numbers: "POINT_COMMA", negatives: "MINUS" } });
  expect(formatAmount("-1234.5", 2)).toBe("-1.234,50");
  usePreferences.setState({ preferences: { ...SHIPPED, numbers: "COMMA_POINT" } });
  expect(formatAmount("-1234.5", 2)).toBe("(1,234.50)");
  expect(currentNumberFormat()).toBe(currentNumberFormat());
});

describe("what is typed", () => {
  test.each<[NumberStyle, string, string | null]>([
    ["COMMA_POINT", "18,420.17", "18420.17"],
    ["COMMA_POINT", " 18420.17 ", "18420.17"],
    ["COMMA_POINT", "(1,002.10)", "-1002.10"],
    ["COMMA_POINT", "-1,002.10", "-1002.10"],
    ["COMMA_POINT", "−7", "-7"],
    ["COMMA_POINT", "007", "7"],
    ["COMMA_POINT", "0.00", "0.00"],
    ["COMMA_POINT", "12,34,567.50", "1234567.50"],
    // Beyond what a floating-point number holds.
    ["COMMA_POINT", "79,228,162,514,264,337,593,543,950.33", "79228162514264337593543950.33"],
    ["COMMA_POINT", "1,50", null],
    ["COMMA_POINT", "1.000,50", null],
    ["COMMA_POINT", "1.2.3", null],
    ["COMMA_POINT", "1.", null],
    ["COMMA_POINT", "1e5", null],
    ["COMMA_POINT", "", null],
    ["COMMA_POINT", "(-1)", null],
    ["COMMA_POINT", "1,000 USD", null],
    ["COMMA_POINT", "١٢٣", null],
    ["POINT_COMMA", "18.420,17", "18420.17"],
    ["POINT_COMMA", "18,420.17", null],
    ["SPACE_COMMA", "18\u202F420,17", "18420.17"],
    ["SPACE_COMMA", "18 420,17", "18420.17"],
    ["APOSTROPHE_POINT", "18’420.17", "18420.17"],
    ["APOSTROPHE_POINT", "18'420.17", "18420.17"],
  ])("in %s, %j reads %j", (style, typed, expected) => {
    expect(readDecimal(typed, as(style)).value).toBe(expected);
  });

  test.each(["en-US", "de-DE", "fr-FR", "de-CH", "en-IN", "es-ES", "pl-PL", "sv-SE"])(
    "with the separators of %s, an amount reads as it was drawn",
    (locale) => {
      for (const negatives of ["MINUS", "PARENTHESES"] as const) {
        const format = { ...separatorsOf(locale), negatives };
        for (const amount of ["0.05", "-1234.50", "1234567.125", "-9007199254740993.01"]) {
          expect(readDecimal(formatDecimal(amount, format), format).value).toBe(amount);
        }
      }
    },
  );

  test("what reads in two ways is refused with the reader’s own separators", () => {
    expect(readDecimal("1,50", as("COMMA_POINT")).problem).toBe(
      "It can be read in two ways: “,” stands before thousands here, and “.” before decimals, as in 1,234.50.",
    );
    expect(readDecimal("1.50", as("POINT_COMMA")).problem).toContain("as in 1.234,50.");
    expect(readDecimal("x", as("APOSTROPHE_POINT")).problem).toBe(
      "Write it as amounts are shown here, as in 1’234.50.",
    );
  });
});

describe("what the window shows is what it reads", () => {
  /** Decimal strings of every length from one digit to the 28 that are kept, always the same ones. */
  function amounts(minorUnits: number): string[] {
    let state = 20_261_130n;
    const digit = () => {
      state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n;
      return Number((state >> 33n) % 10n);
    };
    return Array.from({ length: 400 }, (_, nth) => {
      const digits = Array.from({ length: 1 + (nth % 25) }, digit).join("");
      const whole = digits.replace(/^0+(?=\d)/, "");
      const fraction = Array.from({ length: minorUnits }, digit).join("");
      return `${whole}${minorUnits === 0 ? "" : `.${fraction}`}`;
    }).flatMap((amount) => (/[1-9]/.test(amount) ? [amount, `-${amount}`] : [amount]));
  }

  const readBack = (format: ReturnType<typeof numberFormat>) => {
    for (const minorUnits of [0, 2, 3]) {
      for (const amount of amounts(minorUnits)) {
        const shown = formatAmount(amount, minorUnits, format);
        expect([shown, readDecimal(shown, format).value]).toEqual([shown, amount]);
      }
    }
  };

  const NEGATIVES = ["PARENTHESES", "MINUS"] as const;
  const STYLES = ["COMMA_POINT", "POINT_COMMA", "SPACE_COMMA", "APOSTROPHE_POINT", "SYSTEM"] as const;

  test.each(STYLES.flatMap((numbers) => NEGATIVES.map((negatives) => [numbers, negatives] as const)))(
    "in %s with %s",
    (numbers, negatives) => readBack(as(numbers, negatives)),
  );

  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  const WINDOWS = ["C", "c", "C.UTF-8", "en-US", "en-US-posix", "de-DE", "fr-FR", "en-IN"].flatMap(
    (language) => NEGATIVES.map((negatives) => [language, negatives] as const),
  );

  /** As a webview whose own language it is: an Intl without a language asks for that one, and throws where it is none. */
  async function shippedIn(language: string) {
    vi.stubGlobal("navigator", { language });
    class OwnFormat extends Intl.NumberFormat {
      constructor(locale?: string, options?: Intl.NumberFormatOptions) {
        super(locale ?? language, options);
      }
    }
    vi.stubGlobal("Intl", Object.create(Intl, { NumberFormat: { value: OwnFormat } }));
    vi.resetModules();
    return import("./number-format");
  }

  test.each(WINDOWS)("with the separators of a system in %s and %s", async (language, negatives) => {
    const fresh = await shippedIn(language);
    const format = fresh.numberFormat({ numbers: "SYSTEM", negatives });
    readBack(format);
    expect(format.mark).toBe(["de-DE", "fr-FR"].includes(language) ? "," : ".");
  });

  test.each([
    ["(9,476,790.57)", "-9476790.57"],
    ["-9,476,790.57", "-9476790.57"],
    ["9,476,790.57", "9476790.57"],
    ["12,345,678,653,186,656.57", "12345678653186656.57"],
  ])("as shipped, where no language is set, %s reads %s", async (shown, amount) => {
    const fresh = await shippedIn("C");
    const format = fresh.numberFormat(SHIPPED);
    expect(readDecimal(shown, format)).toEqual({ value: amount, problem: null });
    expect(formatAmount(amount, 2, format)).toBe(amount.startsWith("-") ? "(9,476,790.57)" : shown);
  });
});
