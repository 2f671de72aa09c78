import { useMemo } from "react";
import { visibleText } from "../../components/visible-text";
import type { CaptureDay } from "../../generated/CaptureDay";
import { Chart } from "./Chart";
import styles from "./CloseScreen.module.css";
import { captureByDay } from "./drawings";

/** How many receipts of each day were read badly, and the days of which whoever owns the capture should know. */
export function CaptureChart({ days }: { days: readonly CaptureDay[] }) {
  const draw = useMemo(() => captureByDay(days), [days]);
  return (
    <Chart
      title="Receipt capture"
      data-testid="capture"
      draw={draw}
      legend={[
        { label: "drifting, %", look: "accent" },
        { label: "over policy", look: "warn" },
      ]}
      table={<Days days={days} />}
    />
  );
}

/** The alert in words; `null` while there is none. The latest day comes first. */
export function captureWords(days: readonly CaptureDay[]): string | null {
  const [latest] = days.filter(({ alert }) => alert);
  if (latest === undefined) return null;
  const { day, share, drifting, receipts } = latest;
  return `Receipt capture: ${share} % of ${day} drift (${drifting} of ${receipts}), more than policy lets pass. Tell whoever owns the capture.`;
}

function Days({ days }: { days: readonly CaptureDay[] }) {
  return (
    <table>
      <caption className={styles.spoken}>By the day they were submitted, in UTC</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Receipts</th>
          <th scope="col">Drifting</th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {days.map(({ day, receipts, drifting, share, alert }) => (
          <tr key={day}>
            <th scope="row">{visibleText(day)}</th>
            <td>{receipts}</td>
            <td>{drifting}</td>
            <td className={alert ? styles.over : undefined}>
              {visibleText(share)} %{alert && " over"}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
