import { useState } from "react";
import { ListBox, ListBoxItem } from "react-aria-components";
import { counted } from "../../components/plural";
import { visibleText } from "../../components/visible-text";
import type { Confidence } from "../../generated/Confidence";
import type { ReceiptScan } from "../../generated/ReceiptScan";
import { usePicture } from "../../ipc/reads";
import styles from "./Scan.module.css";
import { ScanPage } from "./ScanPage";
import { pageOf } from "./scan-page";

export const BAND_WORDS: Record<Confidence, string> = { HIGH: "sure", MEDIUM: "fairly sure", LOW: "unsure" };

interface ScanProps {
  id: string;
  scan: ReceiptScan;
}

/** The receipt's picture with what was read from it, line by line. The list is the keyboard's way to the boxes. */
export function Scan({ id, scan }: ScanProps) {
  const picture = usePicture(id);
  const [active, setActive] = useState<number | null>(null);
  const { lines } = scan;
  const line = active === null ? undefined : lines[active];
  return (
    <div className={styles.scan} data-testid="scan">
      <ScanPage
        page={pageOf(picture.data ?? null, lines)}
        lines={lines}
        active={active}
        onActive={setActive}
      />
      <p className={styles.said} role="status" data-testid="scan-line">
        {line === undefined ? (
          <span className={styles.quiet}>{pictureWords(scan, picture)}</span>
        ) : (
          <>
            <b data-band={line.band}>{BAND_WORDS[line.band]}</b> {visibleText(line.confidence)}{" "}
            {visibleText(line.text)}
          </>
        )}
      </p>
      <p className={styles.legend}>
        {(Object.keys(BAND_WORDS) as Confidence[]).map((band) => (
          <span key={band} data-band={band}>
            <i aria-hidden="true" /> {lines.filter((each) => each.band === band).length} {BAND_WORDS[band]}
          </span>
        ))}
      </p>
      {scan.read_from !== null && <p>Amount read from “{visibleText(scan.read_from)}”</p>}
      <ListBox
        aria-label={`${counted(lines.length, "line")} read from the receipt`}
        className={styles.lines}
        items={lines.map((each, place) => ({ ...each, id: place }))}
        selectionMode="none"
        data-testid="scan-lines"
      >
        {(each) => (
          <ListBoxItem
            className={styles.line}
            textValue={`${visibleText(each.text)}, ${BAND_WORDS[each.band]}, ${each.confidence}`}
            data-active={each.id === active}
            onPointerEnter={() => setActive(each.id)}
            onFocus={() => setActive(each.id)}
          >
            <span>{visibleText(each.text)}</span>
            <small data-band={each.band}>
              {BAND_WORDS[each.band]} {visibleText(each.confidence)}
            </small>
          </ListBoxItem>
        )}
      </ListBox>
    </div>
  );
}

function pictureWords(scan: ReceiptScan, picture: ReturnType<typeof usePicture>): string {
  if (picture.error !== null) return `The picture cannot be shown: ${visibleText(picture.error.message)}`;
  if (picture.data === undefined) return "Fetching the picture…";
  if (picture.data === null) {
    return scan.picture === null
      ? "No picture came with this receipt: the lines are drawn where they were read."
      : "The picture is not kept in the database: the lines are drawn where they were read.";
  }
  return "Point at a line, or go through the list, to see what was read.";
}
