/** What the in-memory workstation pretends, read from the address: `?deck=5000&bound=5000&offline`, `?marks`, `?revoked=2`. */
export interface Scenario {
  deck: number;
  bound: number;
  offline: boolean;
  needs: "NOTHING" | "PROFILE" | "PASSWORD";
  leaseMs: number;
  /** Decisions of an earlier session, in every state. */
  outbox: boolean;
  closing: boolean;
  undoMs: number;
  /** Every signature fails with this message. */
  signFailure: string | null;
  /** A row arrives or leaves this often; 0 keeps the deck still. */
  churnMs: number;
  warning: string | null;
  /** The key of this workstation waits for a supervisor; so many seconds go by until one has confirmed it, 0 for ever. */
  enrolment: number | null;
  /** The workstation was revoked with so many decisions unsent. */
  revoked: number | null;
  /** Second signatures, reversals and foreseen refusals. */
  marks: boolean;
  keysInFile: boolean;
  /** Every text of every answer would do harm if it were taken for anything but text. */
  hostile: boolean;
  /** The backlog and the close have at least so many lines. */
  lines: number;
  /** What the backlog and the close fail with. */
  unreadable: string | null;
  /** Letters at the desk; -1 for a desk on which nothing is dead, 0 for a reviewer without the right to it. */
  letters: number;
  /** So many calls that replay are told to wait. */
  busy: number;
  /** A colleague keeps a correction before the first one of the reviewer. */
  colleague: boolean;
  /** Calls at the desk take a while. */
  slow: boolean;
  /** Exceptions that are being scored. */
  scoring: number;
}

export function readScenario(address: URLSearchParams): Scenario {
  const count = (name: string, otherwise: number) =>
    Number.parseInt(address.get(name) ?? String(otherwise), 10);
  const some = (name: string) => (address.has(name) ? count(name, 0) || 0 : null);
  const needs = address.get("needs")?.toUpperCase();
  return {
    deck: count("deck", 96),
    bound: count("bound", 100),
    offline: address.has("offline"),
    needs: needs === "PROFILE" || needs === "PASSWORD" ? needs : "NOTHING",
    leaseMs: count("lease", 761_000),
    outbox: address.has("outbox"),
    closing: address.has("closing"),
    undoMs: count("undo", 5_000),
    signFailure: address.get("failure"),
    churnMs: count("churn", 0),
    warning: address.get("warning"),
    enrolment: some("enrolment"),
    revoked: some("revoked"),
    marks: address.has("marks"),
    keysInFile: address.has("keysfile"),
    hostile: address.has("hostile"),
    lines: count("lines", 0),
    unreadable: address.get("unreadable"),
    letters: count("letters", 60),
    busy: count("busy", 0),
    colleague: address.has("colleague"),
    slow: address.has("slow"),
    scoring: count("scoring", 0),
  };
}
