// Moves over a picture that has more pixels than are drawn: which part of it is in view stands in the address.
import { setQuery, useLocation } from "../router";
import type { Region, Sheet } from "./messages";

/** Pixels of a side that are drawn at most. */
export const most = 2048;

/** Pixels that a part is wide at least. */
const narrowest = 256;

/** Places are shares of the part in view, from 0 to 1 from its left and its top. */
export interface Steering {
  /** Halves the part around a place; undefined: it is as small as it can be. */
  in?: ((x?: number, y?: number) => void) | undefined;
  /** Doubles it; undefined: all of the picture is in view. */
  out?: (() => void) | undefined;
  all: () => void;
  move: (x: number, y: number) => void;
}

/** The part in view, and how to change it; a picture that is drawn with all of its pixels has no steering. */
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

/** Parts begin at such multiples, so that the hand hits the same one twice. */
const grid = 16;

/** A part of the shape of its picture that is wholly within it. */
function partOf({ width, height }: Sheet, left: number, top: number, wide: number) {
  const w = Math.round(Math.min(width, Math.max(narrowest, wide)));
  const h = Math.max(1, Math.round((w / width) * height));
  const within = (from: number, size: number, all: number) => Math.max(0, Math.min(all - size, grid * Math.round(from / grid)));
  return { left: within(left, w, width), top: within(top, h, height), width: w, height: h };
}
