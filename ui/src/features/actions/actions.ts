/**
 * Every action of the window: what it is called, where it stands in the palette and the overlay, and which key it has by default.
 * What an action does is registered by the screen that can do it (`useActionHandlers`).
 *
 * A key reads `Ctrl+Shift+K`; on a keyboard with a Command key that one counts as Ctrl. Keys that print a character, without Ctrl or
 * Alt, work only while the rows have the focus (WCAG 2.1.4).
 */
export interface Action {
  label: string;
  section: Section;
  /** Where its key works: among rows of any kind, in the grid of exceptions, at the desk, anywhere, or in the dialog it belongs to. */
  context: "rows" | "grid" | "desk" | "anywhere" | "dialog";
  /** The shipped key; empty for none. A reviewer may choose another one. */
  key: string;
  /** Keys that it has as well, whatever the reviewer chose. */
  also: readonly string[];
  /** Works while a dialog is open. */
  inDialogs: boolean;
  /** Held down, it goes on. */
  repeats: boolean;
  /** The key is part of a pattern that every grid or dialog follows, and stays. */
  fixed: boolean;
}

export type Section =
  | "Move"
  | "Select"
  | "Decide"
  | "Look"
  | "Views"
  | "Spreadsheet"
  | "Leases"
  | "Dead letters"
  | "Sync"
  | "Go to"
  | "Window"
  | "Help";

function action(
  section: Section,
  label: string,
  key: string,
  context: Action["context"],
  rest: Partial<Action> = {},
): Action {
  return { section, label, key, context, also: [], inDialogs: false, repeats: false, fixed: false, ...rest };
}

const moves = (label: string, key: string, also: string[] = []) =>
  action("Move", label, key, "rows", { also, repeats: true, fixed: also.length === 0 });
const inGrid = (section: Section, label: string, key: string) => action(section, label, key, "grid");
const inRows = (section: Section, label: string, key: string) => action(section, label, key, "rows");
const atDesk = (label: string, key: string, also: string[] = []) =>
  action("Dead letters", label, key, "desk", { also });
const anywhere = (section: Section, label: string, key = "") => action(section, label, key, "anywhere");
const zooms = (label: string, key: string, also: string[] = []) =>
  action("Window", label, key, "anywhere", { also, inDialogs: true, repeats: true });

export const ACTIONS = {
  "move-down": moves("Next row", "J", ["ArrowDown"]),
  "move-up": moves("Previous row", "K", ["ArrowUp"]),
  "page-down": moves("Next page", "PageDown"),
  "page-up": moves("Previous page", "PageUp"),
  "first-row": moves("First row", "Home"),
  "last-row": moves("Last row", "End"),

  toggle: inRows("Select", "Select or clear the row", "Space"),
  "select-shown": inRows("Select", "Select all that the filter shows", "Ctrl+A"),
  clear: action("Select", "Clear the selection", "Escape", "rows", { fixed: true }),
  "drop-hidden": inGrid("Select", "Drop what the filter hides from the selection", "D"),
  "select-group": inGrid("Select", "Complete split groups", "G"),
  "drop-refused": inGrid("Select", "Drop what cannot be signed from the selection", "N"),

  approve: inGrid("Decide", "Approve the selection", "A"),
  reject: inGrid("Decide", "Reject the selection", "R"),
  escalate: inGrid("Decide", "Escalate the selection to…", "E"),
  release: inGrid("Decide", "Give the selection back", "X"),
  "hand-over": inGrid("Decide", "Hand the selection to a colleague", "H"),
  undo: inGrid("Decide", "Undo the last signature", "U"),
  confirm: action("Decide", "Sign, in the dialog", "Ctrl+Enter", "dialog", { fixed: true }),

  detail: inGrid("Look", "To the detail and back", "Enter"),
  filter: inRows("Look", "To the filter", "/"),
  "clear-filters": anywhere("Look", "Clear every filter"),
  columns: anywhere("Look", "Choose columns…"),
  "reset-columns": anywhere("Look", "Reset the columns"),
  "group-entity": anywhere("Look", "Group by entity"),
  "group-counterparty": anywhere("Look", "Group by counterparty"),
  "group-currency": anywhere("Look", "Group by currency"),
  "group-tier": anywhere("Look", "Group by tier"),
  "group-report": anywhere("Look", "Group by report"),
  "group-none": anywhere("Look", "Do not group"),
  "collapse-groups": anywhere("Look", "Collapse every group"),
  "expand-groups": anywhere("Look", "Expand every group"),

  "view-1": anywhere("Views", "Open view 1", "Alt+1"),
  "view-2": anywhere("Views", "Open view 2", "Alt+2"),
  "view-3": anywhere("Views", "Open view 3", "Alt+3"),
  "view-4": anywhere("Views", "Open view 4", "Alt+4"),
  "view-5": anywhere("Views", "Open view 5", "Alt+5"),
  "view-6": anywhere("Views", "Open view 6", "Alt+6"),
  "view-7": anywhere("Views", "Open view 7", "Alt+7"),
  "view-8": anywhere("Views", "Open view 8", "Alt+8"),
  "view-9": anywhere("Views", "Open view 9", "Alt+9"),
  "view-save": anywhere("Views", "Save the view", "Ctrl+S"),
  "view-save-as": anywhere("Views", "Save as a new view…", "Ctrl+Shift+S"),
  "view-reset": anywhere("Views", "Reset the view"),
  "view-rename": anywhere("Views", "Rename the view…"),
  "view-delete": anywhere("Views", "Delete the view"),

  "export-xlsx": anywhere("Spreadsheet", "Export what is shown to Excel"),
  "export-csv": anywhere("Spreadsheet", "Export what is shown to CSV"),
  "import-decisions": anywhere("Spreadsheet", "Import decisions…"),

  "take-offline": anywhere("Leases", "Take work offline…", "Alt+O"),
  "extend-leases": anywhere("Leases", "Extend the leases", "Alt+E"),
  "return-unfinished": anywhere("Leases", "Return what I won’t finish…", "Alt+U"),

  "letter-take": atDesk("Take the letters to work on", "T"),
  "letter-put-back": atDesk("Put the letters back", "P"),
  "letter-fix": atDesk("Correct the letter", "F2", ["Enter"]),
  "letter-save": action("Dead letters", "Save the correction", "Ctrl+Enter", "dialog", { fixed: true }),
  "letter-rehearse": atDesk("Rehearse: what would go in now", "E"),
  "letter-replay": atDesk("Replay the letters…", "R"),
  "letter-replay-cause": atDesk("Replay all of the cause…", "Shift+R"),
  "letter-discard": atDesk("Discard the letters…", "X"),
  "letter-copy": atDesk("Copy the letter as text", "C"),
  "letter-causes": atDesk("To the causes", "G"),
  "letters-done": anywhere("Dead letters", "Show what is done too"),
  "letters-refresh": anywhere("Dead letters", "Read the desk anew"),

  "send-now": anywhere("Sync", "Send what is unsent now", "Alt+N"),
  "latest-receipt": anywhere("Sync", "Receipt of the latest confirmation", "Alt+L"),
  "sync-decisions": anywhere("Sync", "Show decisions"),
  "sync-attention": anywhere("Sync", "Show what needs attention", "Alt+W"),
  "sync-confirmations": anywhere("Sync", "Show confirmations"),
  "sync-receipts": anywhere("Sync", "Show receipts of the database"),

  "go-review": anywhere("Go to", "Go to Review", "Alt+R"),
  "go-backlog": anywhere("Go to", "Go to Backlog: choose the focus", "Alt+B"),
  "go-sync": anywhere("Go to", "Go to Sync", "Alt+S"),
  "go-letters": anywhere("Go to", "Go to Dead letters", "Alt+D"),
  "go-close": anywhere("Go to", "Go to Close", "Alt+C"),
  "go-settings": anywhere("Go to", "Go to Settings", "Ctrl+,"),

  "theme-system": anywhere("Window", "Theme: as the system"),
  "theme-light": anywhere("Window", "Theme: light"),
  "theme-dark": anywhere("Window", "Theme: dark"),
  "theme-contrast": anywhere("Window", "Theme: high contrast"),
  "density-compact": anywhere("Window", "Rows: compact"),
  "density-regular": anywhere("Window", "Rows: regular"),
  "density-comfortable": anywhere("Window", "Rows: comfortable"),
  "zoom-in": zooms("Larger", "Ctrl++", ["Ctrl+="]),
  "zoom-out": zooms("Smaller", "Ctrl+-"),
  "zoom-reset": zooms("Original size", "Ctrl+0"),
  "sign-out": anywhere("Window", "Sign out…"),
  "finish-and-close": anywhere("Window", "Finish and close", "Ctrl+Shift+Q"),

  palette: anywhere("Help", "Every action", "Ctrl+K"),
  shortcuts: action("Help", "Keys", "?", "anywhere", { also: ["F1"] }),
} satisfies Record<string, Action>;

export type ActionId = keyof typeof ACTIONS;

export const ACTION_IDS = Object.keys(ACTIONS) as ActionId[];

export const SECTIONS: readonly Section[] = [
  "Decide",
  "Select",
  "Move",
  "Look",
  "Views",
  "Spreadsheet",
  "Leases",
  "Dead letters",
  "Sync",
  "Go to",
  "Window",
  "Help",
];
