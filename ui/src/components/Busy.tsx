import styles from "./Busy.module.css";

/** Work that takes time, in words, with a bar that moves unless the reviewer prefers that nothing does. */
export function Busy({ children }: { children: React.ReactNode }) {
  return (
    <p className={styles.busy} role="status">
      <i className={styles.bar} aria-hidden="true" />
      {children}
    </p>
  );
}
