import { useId } from "react";
import styles from "./field.module.css";
import { visibleText } from "./visible-text";

export interface TextFieldProps {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
  /** What belongs here, in a line below. */
  help?: string;
  /** What is wrong with it; stands in the place of the help. */
  problem?: string;
  type?: "text" | "password";
  className?: string;
  disabled?: boolean;
  autoFocus?: boolean;
  placeholder?: string;
  inputMode?: "numeric";
  /** The element that says what is wrong, where it is not said here. */
  invalidBy?: string;
  children?: React.ReactNode;
}

/** A line of text with its label; what is wrong with it is said beside it. */
export function TextField(props: TextFieldProps) {
  const {
    label,
    name,
    value,
    onChange,
    help,
    problem,
    type = "text",
    className,
    invalidBy,
    children,
    ...rest
  } = props;
  const id = useId();
  const note = problem ?? help;
  const describedBy = [note === undefined ? undefined : `${id}-note`, invalidBy].filter(Boolean).join(" ");
  return (
    <div className={`${styles.field} ${className ?? ""}`}>
      <label className={styles.label} htmlFor={id}>
        {label}
      </label>
      <div className={styles.line}>
        <input
          {...rest}
          id={id}
          className={styles.input}
          type={type}
          name={name}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          aria-invalid={problem !== undefined || invalidBy !== undefined || undefined}
          aria-describedby={describedBy === "" ? undefined : describedBy}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          data-testid={name}
        />
        {children}
      </div>
      {note !== undefined && (
        <p id={`${id}-note`} className={problem === undefined ? styles.help : styles.problem}>
          {visibleText(note)}
        </p>
      )}
    </div>
  );
}
