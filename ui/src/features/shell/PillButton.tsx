import { Button, type ButtonProps } from "react-aria-components";
import pill from "../../components/Pill.module.css";
import styles from "./PillButton.module.css";

interface PillButtonProps extends Pick<ButtonProps, "onPress" | "aria-label"> {
  children: React.ReactNode;
  tone?: "plain" | "warn";
  "data-testid": string;
}

/** A pill that opens something. */
export function PillButton({ children, tone = "plain", ...rest }: PillButtonProps) {
  return (
    <Button {...rest} className={`${pill.pill} ${pill[tone]} ${styles.button}`}>
      <span className={styles.text}>{children}</span>
      <span aria-hidden="true">▾</span>
    </Button>
  );
}
