// Navigation in a picture with more pixels than are drawn. The visible part is in the address.
import { setQuery, useLocation } from "../router";
import type { Region, Sheet } from "./messages";

/** The maximum number of drawn pixels of a side. */
export const most = 2048;

/** The minimum width of a part in pixels. */
const narrowest = 256;

/** Positions are fractions of the visible part: 0 is its left or upper edge, 1 the opposite edge.
    */
export interface Steering {
  /** Halves the part around a position; undefined at the minimum. */
  in?: ((x?: number, y?: number) => void) | undefined;
  /** Doubles the part; undefined if the whole picture is visible. */
  out?: (() => void) | undefined;
  all: () => void;
  move: (x: number, y: number) => void;
}

/** The visible part and its controls; undefined for a picture that is drawn in full. */
export function useSteering(at: number, sheet: Sheet): { region: Region; steering: Steering | undefined } {
  const { query } = useLocation();
  const { width, height } = sheet;
  const whole = { sheet: at, left: 0, top: 0, width, height, most };
  if (Math.max(width, height) <= most) return { region: whole, steering: undefined };
  const [, left, top, asked] = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/.exec(query.get("part") ?? "")?.map(Number) ?? [];
  const region = asked && asked < width && left! < width && top! < height ? { ...whole, ...partOf(sheet, left!, top!, asked) } : whole;
  const show = (left: number, top: number, wide: number) => {
    const part = partOf(sheet, left, top, wide);
    setQuery({ part: part.width < width ? `${part.left}.${part.top}.${part.width}` : "" });
  };
  const around = (x: number, y: number, wide: number) => show(region.left + x * region.width - wide / 2, region.top + y * region.height - ((wide / width) * height) / 2, wide);
  return {
    region,
    steering: {
      in: region.width / 2 >= narrowest ? (x = 0.5, y = 0.5) => around(x, y, region.width / 2) : undefined,
      out: region.width < width ? () => around(0.5, 0.5, region.width * 2) : undefined,
      all: () => setQuery({ part: "" }),
      move: (x, y) => show(region.left + x * region.width, region.top + y * region.height, region.width),
    },
  };
}

/** The positions of parts are multiples of this number, so that going back leads to the same part. */
const grid = 16;

/** A part with the aspect ratio of its picture, within the picture. */
function partOf({ width, height }: Sheet, left: number, top: number, wide: number) {
  const w = Math.round(Math.min(width, Math.max(narrowest, wide)));
  const h = Math.max(1, Math.round((w / width) * height));
  const within = (from: number, size: number, all: number) => Math.max(0, Math.min(all - size, grid * Math.round(from / grid)));
  return { left: within(left, w, width), top: within(top, h, height), width: w, height: h };
}
