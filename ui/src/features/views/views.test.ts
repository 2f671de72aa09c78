import { beforeEach, expect, test } from "vitest";
import { layoutStore } from "../../components/preferences-store";
import { moveColumn, setHidden, setPinned, setWidth, visibleColumns } from "./column-layout";
import { readSetup } from "./read-setup";
import { EVERYTHING, SHIPPED_COLUMNS } from "./setup";
import { isModified, SHIPPED_VIEWS, whyNotNamed } from "./view";
import { useViews, viewOf } from "./views-store";

beforeEach(() => {
  layoutStore.load(null);
  useViews.setState({ own: [], current: "all", setup: EVERYTHING, collapsed: new Set(), question: null });
});

const views = () => useViews.getState();
const modified = () => isModified(viewOf(views()), views().setup);

test("the shipped views are the ones for close day", () => {
  expect(SHIPPED_VIEWS.map(({ name }) => name)).toEqual([
    "All",
    "Zero variance",
    "Below materiality",
    "Needs second signature",
    "Oldest first",
    "Large",
    "Returned to me",
  ]);
});

test("a shipped view that is changed says so, is saved under a new name, and stays as it is", () => {
  views().open("large");
  expect(modified()).toBe(false);
  views().change({ quick: "usd", group: "entity" });
  expect(modified()).toBe(true);
  views().save();
  expect(views().question).toBe("save-as");
  views().saveAs(" Large dollars ");
  expect(viewOf(views())).toMatchObject({ name: "Large dollars", shipped: false });
  expect(modified()).toBe(false);
  views().open("large");
  expect(views().setup).toMatchObject({ trait: "LARGE", quick: "", group: null });
});

test("an own view is kept across windows, with its columns", () => {
  views().changeColumns((layout) => setWidth(layout, "entity", 300));
  views().change({ filters: { amount: { kind: "amount", from: "10.50", to: null } } });
  views().saveAs("Mine");
  useViews.setState({ own: [], current: "all", setup: EVERYTHING });
  views().load(null);
  views().open(views().own[0]?.id ?? "");
  expect(views().setup.filters.amount).toEqual({ kind: "amount", from: "10.50", to: null });
  expect(views().setup.columns.widths.entity).toBe(300);
  expect(modified()).toBe(false);
});

test("columns are remembered for every shipped view, and modify an own one", () => {
  views().changeColumns((layout) => setHidden(layout, "tier", true));
  expect(modified()).toBe(false);
  views().open("zero");
  expect(views().setup.columns.hidden).toContain("tier");
  views().saveAs("Mine");
  views().changeColumns((layout) => setHidden(layout, "tier", false));
  expect(modified()).toBe(true);
  views().reset();
  expect(views().setup.columns.hidden).toContain("tier");
});

test("what was changed of an own view is not lost by opening it once more, and goes with reset", () => {
  views().saveAs("Mine");
  views().change({ quick: "exxon" });
  views().open(views().current);
  expect(views().setup.quick).toBe("exxon");
  views().reset();
  expect(views().setup.quick).toBe("");
});

test("renaming and deleting leave the other views alone", () => {
  views().saveAs("One");
  views().saveAs("Two");
  views().rename("Second");
  expect(views().own.map(({ name }) => name)).toEqual(["One", "Second"]);
  views().remove();
  expect(views().own.map(({ name }) => name)).toEqual(["One"]);
  expect(views().current).toBe("all");
  views().saveAs("Three");
  expect(new Set(views().own.map(({ id }) => id)).size).toBe(2);
});

test("a name is given once", () => {
  views().saveAs("Mine");
  const { own } = views();
  expect(whyNotNamed("", own)).toMatch(/Enter a name/);
  expect(whyNotNamed("mine", own)).toMatch(/already/);
  expect(whyNotNamed("LARGE", own)).toMatch(/already/);
  expect(whyNotNamed("Mine", own, own[0]?.id)).toBeNull();
  expect(whyNotNamed("x".repeat(61), own)).toMatch(/60 characters/);
});

test("what another release kept, or nobody did, is passed over", () => {
  expect(readSetup(null)).toEqual(EVERYTHING);
  expect(
    readSetup({
      trait: "GLITTERS",
      quick: 7,
      filters: {
        amount: { kind: "amount", from: 3, to: "9" },
        moon: { kind: "text", contains: "x" },
        tier: { kind: "?" },
      },
      sort: [{ id: "age", desc: true }, { id: "moon" }, 3],
      group: "moon",
      columns: {
        order: ["state", "kind", "moon"],
        hidden: ["kind"],
        pinned: ["state"],
        widths: { kind: 1e9, state: "x" },
      },
    }),
  ).toMatchObject({
    trait: null,
    quick: "",
    filters: { amount: { kind: "amount", from: null, to: "9" } },
    sort: [{ id: "age", desc: true }],
    group: null,
    columns: { pinned: ["state"], widths: { kind: 900 } },
  });
});

test("a column that a later release added is there, where it was shipped", () => {
  const { columns } = readSetup({
    columns: { order: ["state", "kind"], hidden: [], pinned: [], widths: {} },
  });
  expect(columns.order.slice(0, 2)).toEqual(["state", "kind"]);
  expect(new Set(columns.order)).toEqual(new Set(SHIPPED_COLUMNS.order));
  expect(columns.hidden).toContain("partition");
  expect(columns.hidden).not.toContain("entity");
});

test("pinned columns come first, and a column moves among its own", () => {
  const pinned = setPinned(SHIPPED_COLUMNS, "state", true);
  expect(visibleColumns(pinned).slice(0, 3)).toEqual(["state", "kind", "entity"]);
  expect(moveColumn(pinned, "kind", -1)).toBe(pinned);
  expect(visibleColumns(moveColumn(pinned, "kind", 1)).slice(0, 3)).toEqual(["state", "entity", "kind"]);
});

test("the last column stays", () => {
  const last = { ...SHIPPED_COLUMNS, hidden: SHIPPED_COLUMNS.order.filter((id) => id !== "kind") };
  expect(setHidden(last, "kind", true)).toBe(last);
});
