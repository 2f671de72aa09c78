import type { Ipc } from "../ipc";

/** What a text from outside may hold to harm whoever shows it: markup, scripts, characters that hide, reorder or break lines. */
export const POISON = [
  "<img src=x onerror=\"window.hostileRan='img'\">",
  "<svg onload=\"window.hostileRan='svg'\"></svg>",
  "<script>window.hostileRan='script'</script>",
  '"><a href="javascript:window.hostileRan=1">a</a>',
  "javascript:window.hostileRan='link'",
  "\u202Egnp.exe\u202C \u2067x\u2069",
  "z\u200Be\u200Dr\uFEFFo\u00AD",
  "\u0000\u0007\u001B[31m\u007F\u0085",
  "one\ntwo\r\nthree\u2028four\u2029",
  "\u{1F469}\u200D\u{1F467}\u{1F3F4}\u{E0067} e\u0301\u0301\u0301\u0301 \uD800",
  "{{7*7}} #{7*7} %s %n",
].join(" ");

/** So long that one of them would be wider than any window. */
const LONG = "W".repeat(10_000);

/**
 * What is no text: identifiers that go back to the workstation, names of a fixed list, numbers, dates and digests, and what the
 * window itself wrote. Everything else is poisoned, what is added later too.
 */
const STRUCTURE = new Set(
  `id ids key batch code kind state outcome tone needs tls source theme density negatives numbers motion next next_step step
  decision decided_decision amount currency minor_units debits credits net largest total left_amount right_amount signed_total
  submitted_at decided_at due_on at as_of since until last_contact oldest oldest_unsent day closes_at heard_at on date expires_on
  variance_amount seq aging exception_id keymap layout match_decision tier suggestion_code media_type bytes_base64 data
  traits missing split_groups hash_total sha256 content_hash offline_until format unit data_url held_amount free_amount
  per_hour first_at status cause revision original_size share confidence amount_from amount_to due_from due_to type_totals done_at closes_on working`
    .split(/\s+/)
    .filter(Boolean),
);

/** The same text becomes the same poison, and another text another one: names stay different from each other. */
function poisoned(text: string): string {
  const sum = [...text].reduce((before, letter) => (before * 31 + (letter.codePointAt(0) ?? 0)) % 9_973, 7);
  const harmful = `${text} ${POISON}${sum % 3 === 0 ? ` ${LONG}` : ""}`;
  came.set(harmful, text);
  return harmful;
}

/** What each poisoned text was, for names that go back to the workstation. */
const came = new Map<string, string>();

function cured(value: unknown): unknown {
  if (typeof value === "string") return came.get(value) ?? value;
  if (Array.isArray(value)) return value.map(cured);
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cured(each)]));
}

function poison(value: unknown, field: string): unknown {
  if (STRUCTURE.has(field)) return value;
  if (typeof value === "string") return poisoned(value);
  if (Array.isArray(value)) return value.map((each) => poison(each, field));
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poison(each, name)]));
}

/** What the window kept of itself is its own. */
const ITS_OWN = new Set(["preferences", "uiState", "onChanged"]);

/** The same workstation, whose every text would do harm if it were taken for anything else; its refusals too. */
export function hostile(ipc: Ipc): Ipc {
  return new Proxy(ipc, {
    get(station, name) {
      const member: unknown = Reflect.get(station, name);
      if (typeof member !== "function" || ITS_OWN.has(String(name))) return member;
      return async (...given: unknown[]) => {
        try {
          return poison(await member.apply(station, given.map(cured)), "");
        } catch (thrown) {
          throw poison(thrown, "");
        }
      };
    },
  });
}
