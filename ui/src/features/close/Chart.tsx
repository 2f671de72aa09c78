import "uplot/dist/uPlot.min.css";
import { useEffect, useRef, useState } from "react";
import type uPlot from "uplot";
import { Button } from "../../components/Button";
import styles from "./Chart.module.css";
import { type ChartTheme, canDraw, nameLanguage, readTheme, useThemeRevision } from "./chart-theme";

export interface Drawing {
  options: Omit<uPlot.Options, "width" | "height">;
  data: uPlot.AlignedData;
}

interface ChartProps {
  title: string;
  /** What the colours mean, in the order of the series. */
  legend: readonly { label: string; look: "accent" | "second" | "warn"; dashed?: boolean }[];
  draw: (theme: ChartTheme, plot: typeof uPlot) => Drawing;
  /** The same numbers, for who reads rather than looks. */
  table: React.ReactNode;
  "data-testid": string;
}

/** A picture of numbers, and the numbers: always there for a screen reader, and for everybody at the press of a button. */
export function Chart({ title, legend, draw, table, "data-testid": testId }: ChartProps) {
  const [asTable, setAsTable] = useState(false);
  const [failed, setFailed] = useState(() => !canDraw());
  const frame = useRef<HTMLDivElement>(null);
  const shown = !asTable && !failed;
  const revision = useThemeRevision(shown);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme is another picture.
  useEffect(() => {
    const parent = frame.current;
    if (parent === null || !shown) return;
    let plot: uPlot | null = null;
    let left = false;
    const size = () => ({ width: Math.max(1, parent.clientWidth), height: Math.max(1, parent.clientHeight) });
    const observer = new ResizeObserver(() => plot?.setSize(size()));
    // Loaded when it is needed: it asks the window for its resolution as soon as it is there.
    nameLanguage();
    import("uplot")
      .then(({ default: Plot }) => {
        if (left) return;
        const { options, data } = draw(readTheme(), Plot);
        plot = new Plot({ ...options, ...size() }, data, parent);
        observer.observe(parent);
      })
      .catch(() => setFailed(true));
    return () => {
      left = true;
      observer.disconnect();
      plot?.destroy();
    };
  }, [draw, shown, revision]);
  return (
    <figure className={styles.figure} data-testid={testId}>
      <figcaption className={styles.caption}>
        <h2>{title}</h2>
        <ul className={styles.legend} aria-hidden="true">
          {shown &&
            legend.map(({ label, look, dashed = false }) => (
              <li key={label} data-look={look} data-dashed={dashed}>
                {label}
              </li>
            ))}
        </ul>
        {!failed && (
          <Button
            look="quiet"
            aria-label={`${title}: show as ${asTable ? "chart" : "table"}`}
            onPress={() => setAsTable(!asTable)}
          >
            {asTable ? "Show as chart" : "Show as table"}
          </Button>
        )}
      </figcaption>
      {shown && <div className={styles.plot} ref={frame} aria-hidden="true" />}
      {shown ? (
        <div className={styles.spoken}>{table}</div>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard
        <section className={styles.table} aria-label={title} tabIndex={0}>
          {table}
        </section>
      )}
    </figure>
  );
}
