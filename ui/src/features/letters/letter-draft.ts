import type { LetterChange } from "../../generated/LetterChange";
import type { LetterEdit } from "../../generated/LetterEdit";
import type { LetterField } from "../../generated/LetterField";
import type { LetterFix } from "../../generated/LetterFix";
import type { LetterView } from "../../generated/LetterView";

/** A new value of a field; `null` takes the field out. */
export interface FieldEdit {
  value: string | null;
  text: boolean;
}

/** A correction that is not kept yet. */
export interface Draft {
  /** The revision that the reviewer looked at. */
  revision: number;
  edits: ReadonlyMap<string, FieldEdit>;
  /** The whole text, for who corrects it as a whole; `null` while fields are corrected one by one. */
  body: string | null;
}

/** What a correction begins with: field by field where there are fields, else the whole text. */
export function draftOf({ revision, fields, body }: LetterView): Draft {
  return { revision, edits: new Map(), body: fields.length === 0 ? (body ?? "") : null };
}

/** A field that is there and says nothing. */
export function isNothing({ value, text, missing }: LetterField): boolean {
  return !missing && !text && value === "null";
}

/** A value that is what the field says already is no change. */
export function withEdit(draft: Draft, field: LetterField, edit: FieldEdit): Draft {
  const edits = new Map(draft.edits);
  const same = edit.value === field.value && edit.text === field.text && !field.missing;
  // Nothing was written where nothing was.
  const nothing =
    (field.missing && (edit.value === null || edit.value === "")) ||
    (isNothing(field) && edit.value === "" && edit.text);
  if (same || nothing) edits.delete(field.path);
  else edits.set(field.path, edit);
  return { ...draft, edits };
}

export function isChanged(draft: Draft, view: LetterView): boolean {
  return draft.body === null ? draft.edits.size > 0 : draft.body !== (view.body ?? "");
}

/** What is about to be kept, as a difference from what is kept now. */
export function pendingChanges(draft: Draft, { fields, body }: LetterView): LetterChange[] {
  if (draft.body !== null) {
    return draft.body === body ? [] : [{ path: "", before: body, after: draft.body }];
  }
  const byPath = new Map(fields.map((field) => [field.path, field]));
  return [...draft.edits].map(([path, { value }]) => {
    const field = byPath.get(path);
    return { path, before: field === undefined || field.missing ? null : field.value, after: value };
  });
}

export function fixOf(id: string, { revision, edits, body }: Draft): LetterFix {
  const told = [...edits].map(([path, { value, text }]): LetterEdit => ({ path, value, text }));
  return { id, revision, edits: body === null ? told : [], body };
}
