import { useRef, useState } from "react";
import { Button, Label, ListBox, ListBoxItem, Popover, Select, SelectValue } from "react-aria-components";
import { flushSync } from "react-dom";
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
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  // Closed before the browser moves the focus, which then goes on from the button.
  const leave = (event: React.KeyboardEvent) => {
    if (event.key !== "Tab") return;
    event.stopPropagation();
    flushSync(() => setOpen(false));
    button.current?.focus();
  };
  return (
    <Select
      {...rest}
      isOpen={open}
      onOpenChange={setOpen}
      className={styles.field}
      value={value}
      onChange={(key) => {
        if (key !== null) onChange(String(key));
      }}
    >
      <Label className={styles.label}>{label}</Label>
      <Button ref={button} className={styles.button} data-testid={testId}>
        <SelectValue />
        <span aria-hidden="true">▾</span>
      </Button>
      <Popover className={styles.list}>
        <div role="presentation" onKeyDownCapture={leave}>
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
        </div>
      </Popover>
    </Select>
  );
}
