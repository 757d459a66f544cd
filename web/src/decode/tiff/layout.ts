// The layout of a TIFF picture: its size, its samples, and its strips or tiles.
import { type Type, types } from "../lib/arrays";
import { Refused } from "../lib/serve";
import type { Directory } from "./tags";

export interface Layout {
  width: number;
  height: number;
  samples: number;
  bits: number;
  format: number;
  photometric: number;
  planar: boolean;
  compression: number;
  predictor: number;
  segmentWidth: number;
  segmentHeight: number;
  tiled: boolean;
  /** Whether the bits of each byte are reversed. */
  reversed: boolean;
}

export const JPEG = 7;
export const indexed = 3;
const YCbCr = 6;

export async function layoutOf(d: Directory): Promise<Layout> {
  const [width, height] = [await d.number(256, 0), await d.number(257, 0)];
  const tiled = d.has(322);
  const bits = await d.numbers(258, [1]);
  if (!(width > 0 && height > 0) || width * height > 2 ** 50) throw new Refused("One of its pictures has no size.");
  if (bits.some((b) => b !== bits[0])) throw new Refused("Its samples have different numbers of bits, which is not supported.");
  return {
    width, height, tiled, bits: bits[0]!,
    samples: await d.number(277, 1),
    format: (await d.numbers(339, [1]))[0]!,
    photometric: await d.number(262, 1),
    planar: (await d.number(284, 1)) === 2,
    compression: await d.number(259, 1),
    predictor: await d.number(317, 1),
    reversed: (await d.number(266, 1)) === 2,
    segmentWidth: tiled ? await d.number(322, 0) : width,
    segmentHeight: tiled ? await d.number(323, 0) : Math.min(height, await d.number(278, height)),
  };
}

/** The type that holds a sample; undefined if such samples are not supported. Up to 16 bits can be
    packed without gaps. */
export function typeOf({ bits, format }: Layout): Type | undefined {
  if (bits < 16 && bits !== 8) return bits < 8 ? types.uint8 : types.uint16;
  return (types as Record<string, Type>)[`${format === 2 ? "int" : format === 3 ? "float" : "uint"}${bits}`];
}

const colours = ["greyscale, 0 is white", "greyscale", "colours", "palette", "mask", "CMYK", "YCbCr"];

export const aboutOf = (l: Layout) =>
  `${l.width} × ${l.height} pixels · ${l.samples > 1 ? `${l.samples} × ` : ""}${l.bits} bits${l.format === 3 ? " (floating point)" : l.format === 2 ? " (signed)" : ""} · ${colours[l.photometric] ?? ""} · ${l.tiled ? "tiles" : "strips"}`;

/** Whether its colours are JPEG colours, which the decoder returns as RGB. */
export const isYCbCr = ({ photometric }: Layout) => photometric === YCbCr;

/** The displayed samples of a pixel: one, or three colours with or without opacity. */
export function channelsOf({ photometric, samples }: Layout): number {
  if (photometric === indexed) return 3;
  return (photometric === 2 || photometric === YCbCr) && samples >= 3 ? (samples === 4 ? 4 : 3) : 1;
}

/** Lists the smaller copies of each picture, smallest last. They have its shape and samples,
    and are in its directory or after it. Whole-slide images are stored this way, with or
    without a mark. */
export function copiesOf(layouts: Layout[]): number[][] {
  const copyOf = (l: Layout, of: Layout) =>
    l.width <= of.width / 1.5 && Math.abs((l.width / of.width) * of.height - l.height) <= 2 && l.samples === of.samples && l.bits === of.bits && l.photometric === of.photometric && of.tiled;
  return layouts.map((of, i) => {
    const copies = [];
    for (let j = i + 1; j < layouts.length && layouts[j]!.width < of.width; j++) if (copyOf(layouts[j]!, of)) copies.push(j);
    return copies.sort((a, b) => layouts[b]!.width - layouts[a]!.width);
  });
}
