import { expect, test } from "vitest";
import type { LetterField } from "../../generated/LetterField";
import type { LetterView } from "../../generated/LetterView";
import { draftOf, fixOf, isChanged, pendingChanges, withEdit } from "./letter-draft";
import { filtered, letterText } from "./letter-text";
import { letterRow, letterView } from "./test-letters";
import { parts } from "./use-letter-calls";

const view: LetterView = letterView();
const [amount, nothing, missing] = view.fields as [LetterField, LetterField, LetterField];

test("what is what it was is no change, and the first real one is", () => {
  const draft = draftOf(view);
  expect(isChanged(draft, view)).toBe(false);
  expect(isChanged(withEdit(draft, amount, { value: amount.value, text: true }), view)).toBe(false);
  expect(isChanged(withEdit(draft, missing, { value: "", text: true }), view)).toBe(false);
  expect(isChanged(withEdit(draft, nothing, { value: "", text: true }), view)).toBe(false);
  const changed = withEdit(draft, amount, { value: "1.01", text: true });
  expect(pendingChanges(changed, view)).toEqual([{ path: "amount", before: "1.005", after: "1.01" }]);
  expect(isChanged(withEdit(changed, amount, { value: "1.005", text: true }), view)).toBe(false);
});

test("a field is put in, taken out, and becomes what it was not", () => {
  let draft = withEdit(draftOf(view), missing, { value: "ACME", text: true });
  draft = withEdit(draft, nothing, { value: null, text: true });
  draft = withEdit(draft, amount, { value: "2", text: false });
  expect(fixOf("l1", draft)).toEqual({
    id: "l1",
    revision: 2,
    edits: [
      { path: "counterparty", value: "ACME", text: true },
      { path: "note", value: null, text: true },
      { path: "amount", value: "2", text: false },
    ],
    body: null,
  });
});

test("what has no fields is corrected as a whole", () => {
  const text = letterView({ fields: [], body: "date;amount" });
  const draft = draftOf(text);
  expect(draft.body).toBe("date;amount");
  const after = { ...draft, body: "date,amount" };
  expect(pendingChanges(after, text)).toEqual([{ path: "", before: "date;amount", after: "date,amount" }]);
  expect(fixOf("l1", after)).toMatchObject({ edits: [], body: "date,amount" });
});

test("a filter looks into everything that is on screen, and every word has to be found", () => {
  const rows = [letterRow("a"), letterRow("b", { entity: "fr-02", at_risk: null, reason: "No date." })];
  const found = (filter: string) => filtered(rows, filter).map(({ id }) => id);
  expect(found("")).toEqual(["a", "b"]);
  expect(found("FR-02 date")).toEqual(["b"]);
  expect(found("12.40 eur")).toEqual(["a"]);
  expect(found("fr-02 eur")).toEqual([]);
});

test("a letter is sent as text in which nothing hides", () => {
  const text = letterText(
    letterView({
      original: '{"a":"\u202E"}',
      changes: [{ path: "amount", before: "1.005", after: null }],
      discard_reason: "A test.",
    }),
  );
  expect(text).toContain('{"a":"<U+202E>"}');
  expect(text).toContain("amount: 1.005 → nothing");
  expect(text).toContain("Reason to discard it: A test.");
});

test("a list goes in parts that a call takes", () => {
  const ids = Array.from({ length: 250 }, (_, place) => String(place));
  expect(parts(ids).map(({ length }) => length)).toEqual([100, 100, 50]);
  expect(parts([])).toEqual([]);
});
