import { useId } from "react";
import field from "../../components/field.module.css";
import { Text } from "../../components/Text";
import { visibleText } from "../../components/visible-text";
import { capitalised, kindWord } from "../review/words";
import { useBacklogChoice } from "./backlog-store";
import styles from "./FocusPanel.module.css";
import type { Draft, Problems } from "./focus-draft";

const KINDS = ["recon_break", "sales_claim", "receipt"];
const TIERS = ["escalated", "priority", "standard"];

type TextField = Exclude<keyof Draft, "entities" | "kinds" | "tiers">;

/** What the deck takes in; a field that is left empty lets everything through. */
export function FocusForm({ problems }: { problems: Problems }) {
  const { draft, edit } = useBacklogChoice();
  const text = (name: TextField, label: string, placeholder = "") => (
    <Field
      label={label}
      placeholder={placeholder}
      value={draft[name]}
      problem={problems[name]}
      onChange={(value) => edit({ [name]: value })}
      testId={`focus-${name}`}
    />
  );
  return (
    <div className={styles.form}>
      <div>
        <span className={field.label}>Entities</span>
        <ul className={styles.entities} aria-label="Entities">
          {draft.entities.map((entity) => (
            <li key={entity}>
              <Text text={entity} />
              <button
                type="button"
                aria-label={visibleText(`Drop ${entity}`)}
                onClick={() => edit({ entities: draft.entities.filter((each) => each !== entity) })}
              >
                ×
              </button>
            </li>
          ))}
          {draft.entities.length === 0 && (
            <li className={styles.faint}>All: choose rows to narrow it down</li>
          )}
        </ul>
        {problems.entities !== undefined && <p className={styles.problem}>{problems.entities}</p>}
      </div>
      <Checks
        label="Tiers"
        names={TIERS}
        word={capitalised}
        of={draft.tiers}
        onChange={(tiers) => edit({ tiers })}
      />
      <Checks
        label="Kinds"
        names={KINDS}
        word={kindWord}
        of={draft.kinds}
        onChange={(kinds) => edit({ kinds })}
      />
      {text("currencies", "Currencies", "all, or EUR USD")}
      <Field
        label="Counterparties, one a line, exactly as they arrived"
        lines
        value={draft.counterparties}
        problem={problems.counterparties}
        onChange={(counterparties) => edit({ counterparties })}
        testId="focus-counterparties"
      />
      <div className={styles.pair}>
        {text("amountFrom", "Variance from")}
        {text("amountTo", "to")}
      </div>
      <div className={styles.pair}>
        {text("dueFrom", "Due from", "2026-10-01")}
        {text("dueTo", "to", "2026-10-31")}
      </div>
      {text("atMost", "How many at most in the deck")}
    </div>
  );
}

interface ChecksProps {
  label: string;
  names: readonly string[];
  word: (name: string) => string;
  of: readonly string[];
  onChange: (names: string[]) => void;
}

function Checks({ label, names, word, of, onChange }: ChecksProps) {
  return (
    <fieldset className={styles.checks}>
      <legend className={field.label}>{label}</legend>
      {[...new Set([...names, ...of])].map((name) => (
        <label key={name}>
          <input
            type="checkbox"
            checked={of.includes(name)}
            onChange={({ target }) =>
              onChange(target.checked ? [...of, name] : of.filter((each) => each !== name))
            }
          />
          {visibleText(word(name))}
        </label>
      ))}
    </fieldset>
  );
}

interface FieldProps {
  label: string;
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
  placeholder?: string;
  lines?: boolean;
  testId: string;
}

function Field({ label, value, problem, onChange, placeholder, lines = false, testId }: FieldProps) {
  const id = useId();
  const Box = lines ? "textarea" : "input";
  return (
    <div className={field.field}>
      <label className={field.label} htmlFor={id}>
        {label}
      </label>
      <Box
        id={id}
        className={lines ? `${field.input} ${field.area}` : field.input}
        value={value}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-problem`}
        onChange={(event: { target: { value: string } }) => onChange(event.target.value)}
        data-testid={testId}
      />
      <p className={styles.problem} id={`${id}-problem`}>
        {problem === undefined ? "" : visibleText(problem)}
      </p>
    </div>
  );
}
