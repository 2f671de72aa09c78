import type { OcrLine } from "../../generated/OcrLine";
import type { PictureView } from "../../generated/PictureView";

/** Only what a picture can be; the source of anything else is not drawn. */
const PICTURE = /^data:image\/(?:png|jpeg);base64,[A-Za-z0-9+/=]+$/;

export interface Page {
  width: number;
  height: number;
  source: string | null;
}

/** The page that the OCR saw. Without its picture it is as large as what was read from it. */
export function pageOf(picture: PictureView | null, lines: readonly OcrLine[]): Page {
  if (picture !== null && picture.page_width > 0 && picture.page_height > 0) {
    const { data_url, page_width: width, page_height: height } = picture;
    return { width, height, source: PICTURE.test(data_url) ? data_url : null };
  }
  const margin = 20;
  const furthest = (ends: number[]) => ends.reduce((most, end) => Math.max(most, end), 1) + margin;
  return {
    width: furthest(lines.map(({ x, width }) => x + width)),
    height: furthest(lines.map(({ y, height }) => y + height)),
    source: null,
  };
}
