import { Button as AriaButton, type ButtonProps as AriaButtonProps } from "react-aria-components";
import styles from "./Button.module.css";

interface ButtonProps extends Omit<AriaButtonProps, "className" | "style" | "children" | "isPending"> {
  children: React.ReactNode;
  /** The one action a screen leads to is primary. */
  look?: "plain" | "primary" | "quiet";
  /** It is at work: it cannot be pressed, and unlike a disabled button it keeps the focus, and with it the keys of its dialog. */
  isBusy?: boolean;
  /** The key that does the same. */
  shortcut?: string;
  title?: string;
  "data-testid"?: string;
}

/** The title is on a frame around the button, because a disabled button must still say why it is. */
export function Button({ children, look = "plain", isBusy = false, shortcut, title, ...rest }: ButtonProps) {
  return (
    <span className={styles.frame} title={title}>
      <AriaButton {...rest} isPending={isBusy} className={`${styles.button} ${styles[look]}`}>
        {children}
        {shortcut !== undefined && <kbd className={styles.shortcut}>{shortcut}</kbd>}
      </AriaButton>
    </span>
  );
}
