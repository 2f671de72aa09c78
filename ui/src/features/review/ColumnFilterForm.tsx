import { useId, useMemo, useState } from "react";
import { Button } from "../../components/Button";
import field from "../../components/field.module.css";
import { formatDecimal } from "../../components/money";
import { visibleText } from "../../components/visible-text";
import { useDeck } from "../../ipc/reads";
import { filterRows, readSize, TEXTS } from "../views/filters";
import type { ColumnFilter, ColumnId } from "../views/setup";
import { useViews } from "../views/views-store";
import styles from "./ColumnFilterForm.module.css";
import type { ColumnSpec } from "./columns";

interface ColumnFilterFormProps {
  id: ColumnId;
  spec: ColumnSpec;
  onClose: () => void;
}

/** What a column lets through, entered according to its kind. */
export function ColumnFilterForm({ id, spec, onClose }: ColumnFilterFormProps) {
  const { setup, change } = useViews();
  const before = setup.filters[id];
  const [problem, setProblem] = useState("");
  const [text, setText] = useState(before?.kind === "text" ? before.contains : "");
  const [values, setValues] = useState<readonly string[]>(before?.kind === "values" ? before.values : []);
  const [[from, to], setBounds] = useState(boundsOf(before));

  const apply = () => {
    const made = filterOf(spec.filter, { text, values, from, to });
    if (typeof made === "string") return setProblem(made);
    const { [id]: _before, ...others } = setup.filters;
    change({ filters: made === null ? others : { ...others, [id]: made } });
    onClose();
  };

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
      data-testid="column-filter"
    >
      {spec.filter === "text" && (
        <Field label={`${spec.name} contains`} value={text} onChange={setText} autoFocus />
      )}
      {spec.filter === "values" && <Values id={id} name={spec.name} chosen={values} onChange={setValues} />}
      {spec.filter !== "text" && spec.filter !== "values" && (
        <div className={styles.bounds}>
          <Field
            label={BOUNDS[spec.filter ?? "days"][0]}
            type={spec.filter === "dates" ? "date" : "text"}
            value={from}
            onChange={(next) => setBounds([next, to])}
            autoFocus
          />
          <Field
            label={BOUNDS[spec.filter ?? "days"][1]}
            type={spec.filter === "dates" ? "date" : "text"}
            value={to}
            onChange={(next) => setBounds([from, next])}
          />
        </div>
      )}
      <p className={styles.problem} role="alert">
        {problem}
      </p>
      <div className={styles.actions}>
        <Button onPress={onClose}>Cancel</Button>
        <Button type="submit" look="primary" shortcut="⏎" data-testid="column-filter-apply">
          Filter
        </Button>
      </div>
    </form>
  );
}

const BOUNDS: Record<"amount" | "dates" | "days", [string, string]> = {
  amount: ["Size from, without the sign", "Size to"],
  dates: ["First day", "Last day"],
  days: ["Days from", "Days to"],
};

function boundsOf(filter: ColumnFilter | undefined): [string, string] {
  if (filter === undefined || filter.kind === "text" || filter.kind === "values") return ["", ""];
  if (filter.kind !== "amount") return [String(filter.from ?? ""), String(filter.to ?? "")];
  return [formatDecimal(filter.from ?? ""), formatDecimal(filter.to ?? "")];
}

interface Entered {
  text: string;
  values: readonly string[];
  from: string;
  to: string;
}

/** The filter that was entered, `null` for none, or what is wrong with it. */
function filterOf(kind: ColumnSpec["filter"], entered: Entered): ColumnFilter | null | string {
  const { from, to } = entered;
  if (kind === null) return null;
  if (kind === "text") return entered.text === "" ? null : { kind, contains: entered.text };
  if (kind === "values") return entered.values.length === 0 ? null : { kind, values: [...entered.values] };
  if (from.trim() === "" && to.trim() === "") return null;
  if (kind === "dates") return { kind, from: from || null, to: to || null };
  const typed = [from.trim(), to.trim()];
  if (kind === "days") {
    if (!typed.every((days) => /^\d{0,6}$/.test(days))) return "Enter whole days.";
    const [first = null, last = null] = typed.map((days) => (days === "" ? null : Number(days)));
    return { kind, from: first, to: last };
  }
  const read = typed.map((size) => (size === "" ? null : readSize(size)));
  const problem = read.find((each) => each?.problem)?.problem;
  if (problem) return problem;
  const [first = null, last = null] = read.map((each) => each?.value ?? null);
  return { kind, from: first, to: last };
}

interface FieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  type?: "text" | "date";
  autoFocus?: boolean;
}

function Field({ label, value, onChange, type = "text", autoFocus = false }: FieldProps) {
  const id = useId();
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={id}>
        {label}
      </label>
      <input
        id={id}
        type={type}
        className={field.input}
        value={value}
        // biome-ignore lint/a11y/noAutofocus: a dialog has to place the focus
        autoFocus={autoFocus}
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

/** More would be no choice any more: a text filter finds them. */
const MOST_VALUES = 200;

interface ValuesProps {
  id: ColumnId;
  name: string;
  chosen: readonly string[];
  onChange: (values: readonly string[]) => void;
}

/** The values of the deck, with how often they are there; what was chosen and is gone stays to be taken away. */
function Values({ id, name, chosen, onChange }: ValuesProps) {
  const deck = useDeck();
  const setup = useViews((state) => state.setup);
  const counts = useMemo(() => {
    const { [id]: _mine, ...filters } = setup.filters;
    const rows = filterRows(deck.data?.value.rows ?? [], { ...setup, filters });
    const found = new Map<string, number>();
    for (const row of rows) found.set(TEXTS[id](row), (found.get(TEXTS[id](row)) ?? 0) + 1);
    return found;
  }, [deck.data, setup, id]);
  const values = [...new Set([...chosen, ...counts.keys()])].toSorted().slice(0, MOST_VALUES);
  return (
    <fieldset className={styles.values}>
      <legend className={field.label}>{name} is</legend>
      {values.map((value, place) => (
        <label key={value}>
          <input
            type="checkbox"
            // biome-ignore lint/a11y/noAutofocus: a dialog has to place the focus
            autoFocus={place === 0}
            checked={chosen.includes(value)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, value] : chosen.filter((each) => each !== value))
            }
          />
          <span>{value === "" ? "(none)" : visibleText(value)}</span>
          <em>{counts.get(value) ?? 0}</em>
        </label>
      ))}
    </fieldset>
  );
}
