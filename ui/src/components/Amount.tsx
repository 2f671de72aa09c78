import styles from "./Amount.module.css";
import { alignmentPad, formatAmount } from "./money";
import { useNumberFormat } from "./number-format";
import { visibleText } from "./visible-text";

interface AmountProps {
  amount: string;
  minorUnits: number;
}

/** An amount for a right-aligned column. The padding is generated content, so that what is copied is the amount alone. */
export function Amount({ amount, minorUnits }: AmountProps) {
  const format = useNumberFormat();
  return (
    <span className={styles.amount} data-pad={alignmentPad(amount, minorUnits, format)}>
      {visibleText(formatAmount(amount, minorUnits, format))}
    </span>
  );
}
