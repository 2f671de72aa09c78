import styles from "./Text.module.css";
import { visibleText } from "./visible-text";

/** Text from outside on one line: hidden characters are spelled out, and what does not fit is in the title. */
export function Text({ text }: { text: string }) {
  const shown = visibleText(text);
  return (
    <span className={styles.text} title={shown}>
      {shown}
    </span>
  );
}
