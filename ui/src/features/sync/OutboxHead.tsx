import styles from "./OutboxTable.module.css";

const COLUMNS: readonly (readonly [string, string | undefined])[] = [
  ["Counterparty", undefined],
  ["Entity", styles.entity],
  ["Variance", styles.right],
  ["Cur", styles.currency],
  ["Decision", styles.decision],
  ["Decided at", styles.instant],
  ["State", styles.state],
  ["Answer", styles.wide],
];

export function OutboxHead() {
  return (
    <thead>
      <tr>
        {COLUMNS.map(([name, look]) => (
          <th key={name} scope="col" className={look}>
            {name}
          </th>
        ))}
        <th scope="col" className={styles.action}>
          <span className={styles.spoken}>Action</span>
        </th>
      </tr>
    </thead>
  );
}
