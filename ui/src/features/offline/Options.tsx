import { Label, Radio, RadioGroup } from "react-aria-components";
import styles from "./Offline.module.css";

export interface OptionRow {
  id: string;
  label: string;
  /** To its right: what it comes to, or why it cannot be chosen. */
  note: string;
  disabled: boolean;
}

interface OptionsProps {
  label: string;
  rows: readonly OptionRow[];
  value: string | null;
  onChange: (id: string) => void;
}

/** One of a few, all of them in sight with what they come to. */
export function Options({ label, rows, value, onChange }: OptionsProps) {
  return (
    <RadioGroup className={styles.options} value={value} onChange={onChange}>
      <Label className={styles.label}>{label}</Label>
      {rows.map(({ id, label: words, note, disabled }) => (
        <Radio
          key={id}
          value={id}
          isDisabled={disabled}
          autoFocus={id === value}
          className={styles.option}
          data-testid={`option-${id}`}
        >
          <i className={styles.mark} aria-hidden="true" />
          <span>{words}</span>
          <span className={styles.faint}>{note}</span>
        </Radio>
      ))}
    </RadioGroup>
  );
}
