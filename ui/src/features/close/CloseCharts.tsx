import { memo, useMemo } from "react";
import { minuteText } from "../../components/clock";
import type { CloseView } from "../../generated/CloseView";
import { CaptureChart } from "./CaptureChart";
import { Chart } from "./Chart";
import styles from "./CloseScreen.module.css";
import { burnDown, byTheHour } from "./drawings";

/** How the close has gone, and where it leads. */
export const CloseCharts = memo(function CloseCharts({ view }: { view: CloseView }) {
  const left = useMemo(() => burnDown(view), [view]);
  const hours = useMemo(() => byTheHour(view), [view]);
  const { burn_down: points, projection, period, capture } = view;
  const early = <p className={styles.noChart}>The burn-down begins once an hour has gone by.</p>;
  if (points.length < 2 && capture.length === 0) return early;
  const done = projection?.done_at ?? null;
  return (
    <div className={styles.charts} data-three={(points.length >= 2 && capture.length > 0) || undefined}>
      {points.length < 2 ? (
        early
      ) : (
        <>
          <Chart
            title="Left"
            data-testid="burn-down"
            draw={left}
            legend={[
              { label: "undecided", look: "accent" },
              ...(done === null ? [] : [{ label: "projected", look: "accent" as const, dashed: true }]),
              ...(period?.closes_at == null ? [] : [{ label: "deadline", look: "warn" as const }]),
            ]}
            table={
              <Points
                heads={["Hour to", "Left"]}
                rows={[
                  ...points.map(({ at, left: then }) => [at, then] as const),
                  ...(done === null ? [] : [[done, 0] as const]),
                ]}
                note={done === null ? null : "The last line is the projection."}
              />
            }
          />
          <Chart
            title="By the hour"
            data-testid="by-the-hour"
            draw={hours}
            legend={[
              { label: "decided", look: "accent" },
              { label: "arrived", look: "second" },
            ]}
            table={
              <Points
                heads={["Hour to", "Decided", "Arrived"]}
                rows={points.map(({ at, decided, arrived }) => [at, decided, arrived] as const)}
                note={null}
              />
            }
          />
        </>
      )}
      {capture.length > 0 && <CaptureChart days={capture} />}
    </div>
  );
});

interface PointsProps {
  heads: readonly string[];
  rows: readonly (readonly [string, ...number[]])[];
  note: string | null;
}

function Points({ heads, rows, note }: PointsProps) {
  return (
    <table>
      {note !== null && <caption>{note}</caption>}
      <thead>
        <tr>
          {heads.map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([at, ...counts]) => (
          <tr key={at}>
            <th scope="row">{minuteText(at, Date.now())}</th>
            {counts.map((count, place) => (
              <td key={heads[place + 1]}>{count}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
