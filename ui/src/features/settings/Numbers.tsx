import { Amount } from "../../components/Amount";
import { formatAmount } from "../../components/money";
import { numberFormat } from "../../components/number-format";
import { usePreferences } from "../../components/preferences-store";
import { Segments } from "../../components/Segments";
import type { Negatives } from "../../generated/Negatives";
import type { NumberStyle } from "../../generated/NumberStyle";
import styles from "./entries.module.css";
import type { Entry } from "./sections";

const STYLES: readonly NumberStyle[] = [
  "SYSTEM",
  "COMMA_POINT",
  "POINT_COMMA",
  "SPACE_COMMA",
  "APOSTROPHE_POINT",
];
const NEGATIVES: readonly Negatives[] = ["PARENTHESES", "MINUS"];

const SAMPLE = "1234.56";

export function numberEntries(): Entry[] {
  return [
    {
      id: "separators",
      words: "separators thousands decimal mark comma point apostrophe",
      shown: <Separators />,
    },
    { id: "negatives", words: "negative amounts parentheses minus", shown: <NegativeAmounts /> },
    { id: "sample", words: "sample amounts", shown: <Sample /> },
  ];
}

function Separators() {
  const { numbers, negatives } = usePreferences((state) => state.preferences);
  const change = usePreferences((state) => state.change);
  const options = STYLES.map((id) => {
    const sample = formatAmount(SAMPLE, 2, numberFormat({ numbers: id, negatives }));
    return { id, label: id === "SYSTEM" ? `As the system: ${sample}` : sample };
  });
  return (
    <Segments
      label="Separators"
      options={options}
      value={numbers}
      onChange={(id) => change({ numbers: STYLES.find((each) => each === id) ?? numbers })}
      data-testid="numbers"
    />
  );
}

function NegativeAmounts() {
  const { numbers, negatives } = usePreferences((state) => state.preferences);
  const change = usePreferences((state) => state.change);
  const options = NEGATIVES.map((id) => ({
    id,
    label: formatAmount(`-${SAMPLE}`, 2, numberFormat({ numbers, negatives: id })),
  }));
  return (
    <Segments
      label="Negative amounts"
      options={options}
      value={negatives}
      onChange={(id) => change({ negatives: NEGATIVES.find((each) => each === id) ?? negatives })}
      data-testid="negatives"
    />
  );
}

const SAMPLES = [
  ["1284065.40", "USD", 2],
  ["-10", "EUR", 2],
  ["-48500", "JPY", 0],
  ["7.125", "BHD", 3],
] as const;

/** How amounts read with these choices, in a column as everywhere. */
function Sample() {
  return (
    <table className={styles.sample} data-testid="number-sample">
      <caption>So they read, each with its currency’s own digits</caption>
      <tbody>
        {SAMPLES.map(([amount, currency, minorUnits]) => (
          <tr key={currency}>
            <th scope="row">{currency}</th>
            <td>
              <Amount amount={amount} minorUnits={minorUnits} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
