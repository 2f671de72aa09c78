import { Label, Radio, RadioGroup } from "react-aria-components";
import type { Option } from "./Choice";
import styles from "./Segments.module.css";

interface SegmentsProps {
  label: string;
  options: readonly Option[];
  value: string;
  onChange: (id: string) => void;
  "data-testid": string;
}

/** One of a few that are all in sight. */
export function Segments({ label, options, value, onChange, "data-testid": testId }: SegmentsProps) {
  return (
    <RadioGroup
      className={styles.group}
      orientation="horizontal"
      value={value}
      onChange={onChange}
      data-testid={testId}
    >
      <Label className={styles.label}>{label}</Label>
      <div className={styles.options}>
        {options.map((option) => (
          <Radio
            key={option.id}
            value={option.id}
            className={styles.option}
            data-testid={`${testId}-${option.id}`}
          >
            {option.label}
          </Radio>
        ))}
      </div>
    </RadioGroup>
  );
}
