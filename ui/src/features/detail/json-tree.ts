/**
 * JSON read for showing: numbers keep the digits they were written with, and keys their order, also twice. The language's own reader
 * would round `0.1234567890123456789`.
 */
export interface JsonNode {
  /** Its place from the root, such as `0.3.1`. */
  path: string;
  /** The member's name; `null` in a list and at the root. */
  name: string | null;
  /** As it is written, without the quotes of a text; of a list or an object, how many it holds. */
  value: string;
  kind: "object" | "array" | "string" | "number" | "word";
  children: JsonNode[];
}

/** Deeper ones, and longer ones, are shown as text. */
const MOST_LEVELS = 100;
const MOST_NODES = 5_000;

const TOKEN = /\s*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

class Unreadable extends Error {}

class Reader {
  #text: string;
  #at = 0;
  #nodes = 0;

  constructor(text: string) {
    this.#text = text;
  }

  all(): JsonNode {
    const node = this.#value(this.#next(), null, "0", 0);
    if (this.#text.slice(this.#at).trim() !== "") throw new Unreadable();
    return node;
  }

  #next(): string {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (match === null) throw new Unreadable();
    this.#at = TOKEN.lastIndex;
    return match[0].trim();
  }

  #value(token: string, name: string | null, path: string, level: number): JsonNode {
    this.#nodes += 1;
    if (level > MOST_LEVELS || this.#nodes > MOST_NODES) throw new Unreadable();
    const leaf = (kind: JsonNode["kind"], value: string) => ({ path, name, kind, value, children: [] });
    if (token === "{" || token === "[") return this.#nest(token, name, path, level);
    if (token.startsWith('"')) return leaf("string", textOf(token));
    if (/^[tfn]/.test(token)) return leaf("word", token);
    if (/^[-\d]/.test(token)) return leaf("number", token);
    throw new Unreadable();
  }

  #nest(opening: string, name: string | null, path: string, level: number): JsonNode {
    const isObject = opening === "{";
    const closing = isObject ? "}" : "]";
    const children: JsonNode[] = [];
    for (let token = this.#next(); token !== closing; token = this.#next()) {
      if (children.length > 0) {
        if (token !== ",") throw new Unreadable();
        token = this.#next();
      }
      const member = isObject ? this.#name(token) : null;
      const value = isObject ? this.#next() : token;
      children.push(this.#value(value, member, `${path}.${children.length}`, level + 1));
    }
    const kind = isObject ? "object" : "array";
    return { path, name, kind, value: String(children.length), children };
  }

  #name(token: string): string {
    if (!token.startsWith('"') || this.#next() !== ":") throw new Unreadable();
    return textOf(token);
  }
}

function textOf(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new Unreadable();
  }
}

/** The tree of a JSON text, or `null` for what is none, or too large for a tree. */
export function jsonTree(text: string): JsonNode | null {
  try {
    return new Reader(text).all();
  } catch (thrown) {
    if (thrown instanceof Unreadable) return null;
    throw thrown;
  }
}
