import styles from "./Pill.module.css";

interface PillProps {
  children: React.ReactNode;
  tone?: "plain" | "ok" | "warn" | "bad";
  title?: string;
  "data-testid"?: string;
  "data-online"?: boolean;
}

/** A state of the frame, in words; the colour only repeats them. */
export function Pill({ children, tone = "plain", ...rest }: PillProps) {
  return (
    <span {...rest} className={`${styles.pill} ${styles[tone]}`}>
      {children}
    </span>
  );
}

export function Dot() {
  return <i className={styles.dot} aria-hidden="true" />;
}
