/**
 * A small JSON document that outlives the window: one value for each name. What does not read is as if it were not there, because
 * another release may have written it.
 */
export interface DocumentStore {
  load: (text: string | null) => void;
  /** The value of `name` as `read` makes it out; `null` when it is not there or does not read. */
  read: <T>(name: string, read: (value: unknown) => T | null) => T | null;
  write: (name: string, value: unknown) => void;
}

export function documentStore(save: (text: string) => void): DocumentStore {
  let values: Record<string, unknown> = {};
  return {
    load(text) {
      values = {};
      if (text === null || text === "") return;
      try {
        const parsed: unknown = JSON.parse(text);
        if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) {
          values = parsed as Record<string, unknown>;
        }
      } catch {
        // As if nothing had been kept.
      }
    },
    read(name, read) {
      return Object.hasOwn(values, name) ? read(values[name]) : null;
    },
    write(name, value) {
      values = { ...values, [name]: value };
      save(JSON.stringify(values));
    },
  };
}
