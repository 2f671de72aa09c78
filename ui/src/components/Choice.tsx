import { Button, Label, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import styles from "./field.module.css";

export interface Option {
  id: string;
  label: string;
}

interface ChoiceProps {
  label: string;
  options: readonly Option[];
  value: string | null;
  onChange: (id: string) => void;
  placeholder?: string;
  autoFocus?: boolean;
  isDisabled?: boolean;
  "data-testid": string;
}

/** One of a few, chosen from a list. */
export function Choice({ label, options, value, onChange, "data-testid": testId, ...rest }: ChoiceProps) {
  return (
    <Select
      {...rest}
      className={styles.field}
      value={value}
      onChange={(key) => {
        if (key !== null) onChange(String(key));
      }}
    >
      <Label className={styles.label}>{label}</Label>
      <Button className={styles.button} data-testid={testId}>
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      <Popover className={styles.list}>
        <ListBox items={options}>
          {(option) => (
            <ListBoxItem
              className={styles.option}
              data-testid={`${testId}-${option.id}`}
              textValue={option.label}
            >
              {option.label}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </Select>
  );
}
