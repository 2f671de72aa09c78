import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { Button } from "../../components/Button";
import field from "../../components/field.module.css";
import { say } from "../../components/toast-store";
import { visibleText } from "../../components/visible-text";
import type { SettingRow } from "../../generated/SettingRow";
import { toCommandError, useIpc } from "../../ipc/ipc";
import styles from "./SettingEditor.module.css";
import { isTime, rangeWords, readWhole, sourceWords, valueWords } from "./setting-words";

/** One setting: what it is, where that comes from, and another value for the next start. */
export function SettingEditor({ row }: { row: SettingRow }) {
  const { name, label, explanation, unit, fixed } = row;
  const ipc = useIpc();
  const client = useQueryClient();
  const next = row.next_start ?? row.value;
  const [text, setText] = useState(String(next));
  const [problem, setProblem] = useState<string | null>(null);
  const [saving, setSaving] = useState(false);
  const id = useId();
  const typed = readWhole(text);
  const changed = text.trim() !== String(next);

  // Somebody else may have changed it: what is in force next is shown, unless something is being typed.
  useEffect(() => setText(String(next)), [next]);

  const save = async (value: number | null) => {
    setSaving(true);
    setProblem(null);
    try {
      const view = await ipc.changeSetting(name, value);
      client.setQueryData(["settings"], view);
      const kept = view.rows.find((each) => each.name === name);
      setText(String(kept?.next_start ?? kept?.value ?? next));
      say(`${visibleText(label)} is ${valueWords(value ?? row.default, unit)} from the next start on.`);
    } catch (thrown) {
      setProblem(toCommandError(thrown).message);
    }
    setSaving(false);
  };
  const submit = () => {
    if (typed === null) setProblem(`A whole number of ${unit} is expected, without separators.`);
    else void save(typed);
  };

  return (
    <form
      className={styles.setting}
      data-testid={`setting-${name}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (changed && !saving && fixed === null) submit();
      }}
    >
      <div className={styles.about}>
        <label htmlFor={id}>{visibleText(label)}</label>
        <p>{visibleText(explanation)}</p>
        <p id={`${id}-facts`}>
          {visibleText(sourceWords(row))} · <code>{visibleText(name)}</code> · {rangeWords(row)}, default{" "}
          {valueWords(row.default, unit)}
        </p>
      </div>
      <div className={styles.edit}>
        <div className={styles.line}>
          <input
            id={id}
            className={field.input}
            inputMode="numeric"
            value={text}
            disabled={fixed !== null}
            aria-invalid={problem !== null || undefined}
            aria-describedby={`${id}-facts ${id}-state`}
            autoComplete="off"
            onChange={(event) => {
              setText(event.target.value);
              setProblem(null);
            }}
            onKeyDown={(event) => {
              if (event.key !== "Escape" || !changed) return;
              event.stopPropagation();
              setText(String(next));
              setProblem(null);
            }}
            data-testid={`setting-${name}-value`}
          />
          <span className={styles.unit}>{visibleText(unit)}</span>
          <Button type="submit" isDisabled={!changed || saving || fixed !== null}>
            Save
          </Button>
          <Button
            isDisabled={saving || fixed !== null || next === row.default}
            onPress={() => void save(null)}
            aria-label={`Default: ${visibleText(label)} back to ${valueWords(row.default, unit)}`}
            data-testid={`setting-${name}-default`}
          >
            Default
          </Button>
        </div>
        <p
          id={`${id}-state`}
          role="status"
          className={problem === null ? styles.state : styles.problem}
          data-testid={`setting-${name}-state`}
        >
          {visibleText(problem ?? stateWords(row, changed, typed))}
        </p>
      </div>
    </form>
  );
}

function stateWords(row: SettingRow, changed: boolean, typed: number | null): string {
  const { fixed, unit, next_start } = row;
  if (fixed !== null) return fixed;
  if (changed)
    return typed !== null && isTime(unit) ? `That is ${valueWords(typed, unit)}.` : "Not saved yet.";
  const now = valueWords(row.value, unit);
  return next_start === null
    ? `In force: ${now}.`
    : `In force: ${now}. From the next start: ${valueWords(next_start, unit)}.`;
}
