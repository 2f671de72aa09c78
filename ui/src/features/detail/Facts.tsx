import { visibleText } from "../../components/visible-text";
import type { Fact } from "../../generated/Fact";
import styles from "./Detail.module.css";

/** Characters that always fit into the height that a value may have. */
const MAY_SCROLL = 100;

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{visibleText(label)}</dt>
          {/* What may scroll has to be in the tab order. */}
          <dd className={styles.value} tabIndex={value.length > MAY_SCROLL ? 0 : undefined}>
            {visibleText(value)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
