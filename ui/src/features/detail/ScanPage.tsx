import { useState } from "react";
import { Button } from "../../components/Button";
import type { OcrLine } from "../../generated/OcrLine";
import styles from "./Scan.module.css";
import type { Page } from "./scan-page";

const ZOOMS = [50, 75, 100, 150, 200, 300, 400];
const WHOLE = 100;

interface ScanPageProps {
  page: Page;
  lines: readonly OcrLine[];
  active: number | null;
  onActive: (line: number | null) => void;
}

/** The page with a box around each line; colour, stroke and hatching say how sure it is. At 100 % it is as wide as the pane. */
export function ScanPage({ page, lines, active, onActive }: ScanPageProps) {
  const [zoom, setZoom] = useState(WHOLE);
  const step = (by: 1 | -1) => setZoom(ZOOMS[ZOOMS.indexOf(zoom) + by] ?? zoom);
  return (
    <>
      <div className={styles.zoom}>
        <Button look="quiet" aria-label="Smaller" isDisabled={zoom === ZOOMS[0]} onPress={() => step(-1)}>
          −
        </Button>
        <Button
          look="quiet"
          aria-label={`${zoom} percent; as wide as the pane`}
          onPress={() => setZoom(WHOLE)}
        >
          {zoom} %
        </Button>
        <Button
          look="quiet"
          aria-label="Larger"
          isDisabled={zoom === ZOOMS.at(-1)}
          onPress={() => step(1)}
          data-testid="scan-larger"
        >
          +
        </Button>
      </div>
      {/* What scrolls has to be in the tab order. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <section className={styles.frame} aria-label="The receipt" tabIndex={0}>
        <div
          className={styles.page}
          style={{ width: `${zoom}%`, aspectRatio: `${page.width} / ${page.height}` }}
          data-testid="scan-page"
        >
          {page.source !== null && (
            <img src={page.source} alt="The receipt as it was captured" draggable={false} />
          )}
          <Boxes page={page} lines={lines} active={active} onActive={onActive} />
        </div>
      </section>
    </>
  );
}

function Boxes({ page, lines, active, onActive }: ScanPageProps) {
  return (
    <svg
      viewBox={`0 0 ${page.width} ${page.height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onPointerLeave={() => onActive(null)}
    >
      <defs>
        <pattern
          id="unsure"
          width="12"
          height="12"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect className={styles.hatch} width="3" height="12" />
        </pattern>
      </defs>
      {lines.map(({ band, x, y, width, height }, place) => (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: two lines can be alike in everything, and they never reorder
          key={place}
          className={styles.box}
          data-band={band}
          data-active={place === active}
          x={x}
          y={y}
          width={Math.max(1, width)}
          height={Math.max(1, height)}
          onPointerEnter={() => onActive(place)}
        />
      ))}
    </svg>
  );
}
