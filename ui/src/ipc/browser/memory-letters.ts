import type { LetterFix } from "../../generated/LetterFix";
import type { LetterOutcome } from "../../generated/LetterOutcome";
import type { LetterQuery } from "../../generated/LetterQuery";
import type { LetterRow } from "../../generated/LetterRow";
import type { LettersReply } from "../../generated/LettersReply";
import type { Arrival } from "./arrivals";
import {
  changesBetween,
  deskOf,
  type Letter,
  lettersOf,
  valueAt,
  viewOf,
  withValue,
  withWords,
} from "./letters";
import { pause } from "./pause";
import type { Scenario } from "./scenario";

const ME = "reviewer-12";

/** The desk of dead letters in this page: what is corrected goes in, and what is not does not. */
export class MemoryLetters {
  #letters: Letter[];
  #scenario: Scenario;
  /** The first calls of a replay are told to wait, as a busy database does. */
  #busy: number;
  /** A colleague corrects before the first correction is kept. */
  #colleague: boolean;

  constructor(scenario: Scenario, arrivals: readonly Arrival[]) {
    this.#scenario = scenario;
    this.#letters = lettersOf(arrivals, scenario.letters);
    this.#busy = scenario.busy;
    this.#colleague = scenario.colleague;
  }

  async letters({ causes, done }: LetterQuery) {
    this.#reachable();
    return deskOf(this.#letters, causes, done);
  }

  async letter(id: string) {
    this.#reachable();
    return viewOf(this.#find(id));
  }

  async takeLetters(ids: readonly string[], back: boolean) {
    return this.#each(ids, (letter) => {
      if (back) {
        if (!letter.row.mine) return NOT_YOURS;
        this.#change(letter, { status: "OPEN", owner: null, mine: false }, "Put back");
        return { outcome: "PUT_BACK", passes: true, words: "Put back for others." };
      }
      if (letter.row.status !== "OPEN" && !letter.row.mine) return NOT_YOURS;
      this.#change(letter, { status: "TAKEN", owner: ME, mine: true }, "Taken");
      return { outcome: "TAKEN", passes: true, words: "Taken by you." };
    });
  }

  async fixLetter({ id, revision, edits, body }: LetterFix) {
    this.#reachable();
    await pause(60);
    const letter = this.#find(id);
    if (!letter.row.mine) throw { code: "NOT_YOURS", message: "It is not taken by you: take it first." };
    if (this.#colleague) {
      this.#colleague = false;
      const path = letter.row.field ?? "counterparty";
      this.#correct(letter, withValue(letter.text, path, "as reviewer-03 wrote it"), "reviewer-03");
    }
    if (revision !== letter.corrections.length) {
      throw {
        code: "REVISION_CONFLICT",
        message: "Somebody else corrected it meanwhile: what you wrote is not kept yet. Look at both.",
      };
    }
    let text = body ?? letter.text;
    for (const { path, value, text: isText } of edits) {
      text = withValue(text, path, value === null ? undefined : isText ? value : read(path, value));
    }
    this.#correct(letter, text, ME);
    return viewOf(this.#find(id));
  }

  async rehearseLetters(ids: readonly string[]) {
    return this.#each(ids, (letter) => this.#fate(letter));
  }

  async replayLetters(ids: readonly string[]) {
    if (this.#busy > 0) {
      this.#busy -= 1;
      const message = "600 letters were replayed within a minute: the rest goes on by itself.";
      return { letters: [], message, wait_ms: 1_500 };
    }
    return this.#each(ids, (letter) => {
      const fate = this.#fate(letter);
      if (fate.passes) this.#change(letter, { status: "REPLAYED" }, "Went in");
      else this.#change(letter, { attempts: letter.row.attempts + 1 }, "Sent in again, and refused");
      return fate;
    });
  }

  async discardLetters(ids: readonly string[], reason: string) {
    return this.#each(ids, (letter) => {
      letter.discard = { by: ME, reason };
      this.#change(letter, { status: "DISCARDING" }, "Asked to be discarded");
      const words = "Waits for a supervisor who is somebody else.";
      return { outcome: "DISCARDING", passes: true, words };
    });
  }

  #fate({ row, text, bad }: Letter): Fate {
    if (row.status === "TAKEN" && !row.mine) return NOT_YOURS;
    if (row.cause === "SCORING") {
      return { outcome: "REFUSED", passes: false, words: "It is no arrival: it is pending for others." };
    }
    const good =
      row.field === null
        ? isJson(text)
        : valueAt(text, row.field) !== null && valueAt(text, row.field) !== bad;
    if (good) return { outcome: "ENQUEUED", passes: true, words: "As a new exception, pending." };
    return { outcome: "REFUSED", passes: false, words: row.reason, field: row.field };
  }

  async #each(ids: readonly string[], act: (letter: Letter) => Fate): Promise<LettersReply> {
    this.#reachable();
    await pause(this.#scenario.slow ? 400 : 30);
    const letters = ids.map((id): LetterOutcome => ({ id, field: null, ...act(this.#find(id)) }));
    const done = letters.filter(({ passes }) => passes).length;
    return { letters, message: `${done} of ${letters.length} done.`, wait_ms: null };
  }

  #correct(letter: Letter, text: string, by: string) {
    const at = new Date().toISOString();
    const changes = changesBetween(letter.text, text);
    letter.corrections = [
      ...letter.corrections,
      { revision: letter.corrections.length + 1, by, at, changes },
    ];
    letter.text = text;
    this.#change(letter, { corrections: letter.corrections.length }, "Corrected", by);
  }

  #change(letter: Letter, part: Partial<LetterRow>, words: string, actor = ME) {
    letter.row = withWords({ ...letter.row, ...part });
    const event = words.toUpperCase().replaceAll(" ", "_");
    letter.history = [...letter.history, { at: new Date().toISOString(), event, words, actor, facts: [] }];
  }

  #find(id: string): Letter {
    const letter = this.#letters.find(({ row }) => row.id === id);
    if (letter === undefined)
      throw { code: "NOT_FOUND", message: "This letter is not at the desk any more." };
    return letter;
  }

  #reachable() {
    const { offline, unreadable } = this.#scenario;
    if (offline) {
      throw {
        code: "OFFLINE",
        message: "The desk of dead letters is in the database, which cannot be reached now.",
      };
    }
    if (unreadable !== null) throw { code: "UNREACHABLE", message: unreadable };
  }
}

type Fate = Omit<LetterOutcome, "id" | "field"> & { field?: string | null };

const NOT_YOURS: Fate = {
  outcome: "NOT_YOURS",
  passes: false,
  words: "reviewer-03 works on it.",
};

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function read(path: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw {
      code: "NOT_CORRECTED",
      message: `\`${path}\`: it is neither a text nor JSON; write a number, true, false, null, a list or an object.`,
    };
  }
}
