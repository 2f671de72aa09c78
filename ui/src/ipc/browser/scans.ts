import type { Confidence } from "../../generated/Confidence";
import type { OcrLine } from "../../generated/OcrLine";
import type { PictureView } from "../../generated/PictureView";
import type { ReceiptScan } from "../../generated/ReceiptScan";
import type { Arrival } from "./arrivals";

interface ReadLine {
  text: string;
  confidence: string;
  bbox: [number, number, number, number];
}

function bandOf(confidence: string): Confidence {
  if (confidence >= "0.85" || confidence.startsWith("1")) return "HIGH";
  return confidence >= "0.6" ? "MEDIUM" : "LOW";
}

export function scanOf({ kind, payload }: Arrival): ReceiptScan | null {
  if (kind !== "receipt") return null;
  const read = (payload.ocr_lines ?? []) as unknown as ReadLine[];
  const lines = read.map(({ text, confidence, bbox: [x, y, width, height] }): OcrLine => {
    return { text, confidence, band: bandOf(confidence), x, y, width, height };
  });
  const from = payload.extracted_from_line;
  return {
    picture: String(payload.receipt_id),
    read_from: typeof from === "string" ? from : null,
    lines,
  };
}

const MARGIN = 40;

/** A picture of what was read: paper with its lines, a little worse than the page that the OCR saw. */
export function pictureOf(arrival: Arrival): PictureView | null {
  const lines = scanOf(arrival)?.lines ?? [];
  if (lines.length === 0) return null;
  const page_width = Math.max(...lines.map(({ x, width }) => x + width)) + MARGIN;
  const page_height = Math.max(...lines.map(({ y, height }) => y + height)) + MARGIN;
  const canvas = document.createElement("canvas");
  canvas.width = page_width / 2;
  canvas.height = page_height / 2;
  const paper = canvas.getContext("2d");
  if (paper === null) return null;
  paper.fillStyle = "#f4f1ea";
  paper.fillRect(0, 0, canvas.width, canvas.height);
  paper.fillStyle = "#333";
  paper.scale(0.5, 0.5);
  paper.textBaseline = "top";
  for (const { text, x, y, width, height } of lines) {
    paper.font = `${height}px monospace`;
    paper.fillText(text, x, y, width);
  }
  return { data_url: canvas.toDataURL("image/png"), page_width, page_height };
}
