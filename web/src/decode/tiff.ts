// TIFF and BigTIFF: pages of strips or tiles, of which only those in view are read.
import type { Raster, Region, Sheet } from "../sight/messages";
import { type Type, types } from "./lib/arrays";
import { type Input, MiB, Refused, serve } from "./lib/serve";
import { attributesOf, type Directory, TagFile } from "./tiff/tags";
import { unpack, unpredict, whyNot } from "./tiff/unpack";

/** Bytes that one view unpacks at most, and pixels that it has. */
const maxUnpacked = 512 * MiB;

interface Layout {
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
  /** The bits of each byte are in the opposite order. */
  reversed: boolean;
}

async function layoutOf(d: Directory): Promise<Layout> {
  const [width, height] = [await d.number(256, 0), await d.number(257, 0)];
  const tiled = d.has(322);
  const bits = await d.numbers(258, [1]);
  if (!(width > 0 && height > 0) || width * height > 2 ** 50) throw new Refused("A picture of it has no size.");
  if (bits.some((b) => b !== bits[0])) throw new Refused("Its samples have several numbers of bits, which is not read here.");
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

function typeOf({ bits, format }: Layout): Type | undefined {
  const kind = format === 2 ? "int" : format === 3 ? "float" : "uint";
  return bits < 8 ? types.uint8 : (types as Record<string, Type>)[`${kind}${bits}`];
}

const colours = ["greys, white first", "greys", "colours", "palette", "mask", "CMYK", "YCbCr"];

const aboutOf = (l: Layout) =>
  `${l.width} × ${l.height} pixels · ${l.samples > 1 ? `${l.samples} × ` : ""}${l.bits} bits${l.format === 3 ? " (floating point)" : l.format === 2 ? " (signed)" : ""} · ${colours[l.photometric] ?? ""} · ${l.tiled ? "tiles" : "strips"}`;

/** Which samples of a pixel are shown: one, or three colours with or without opacity. */
function channelsOf({ photometric, samples }: Layout): number {
  if (photometric === 3) return 3;
  return photometric === 2 && samples >= 3 ? (samples === 4 ? 4 : 3) : 1;
}

const reverse = (byte: number) => {
  let other = 0;
  for (let bit = 0; bit < 8; bit++) other |= ((byte >> bit) & 1) << (7 - bit);
  return other;
};

class Page {
  private constructor(
    private readonly input: Input,
    private readonly little: boolean,
    private readonly l: Layout,
    private readonly offsets: number[],
    private readonly counts: number[],
    private readonly palette: number[],
  ) {}

  static async open(input: Input, file: TagFile, d: Directory): Promise<Page> {
    const l = await layoutOf(d);
    const why = whyNot(l.compression) ?? (l.photometric === 6 ? "Its colours are in YCbCr, which is not read here." : undefined);
    if (why) throw new Refused(why);
    if (!typeOf(l)) throw new Refused(`Its samples have ${l.bits} bits, which is not read here.`);
    if (!(l.segmentWidth > 0 && l.segmentHeight > 0) || l.samples > 64) throw new Refused("A directory of it is broken.");
    const offsets = await d.numbers(l.tiled ? 324 : 273);
    return new Page(input, file.little, l, offsets, await d.numbers(l.tiled ? 325 : 279), await d.numbers(320));
  }

  private get bytesPerSegment() {
    const { segmentWidth, segmentHeight, planar, samples, bits } = this.l;
    return Math.ceil((segmentWidth * (planar ? 1 : samples) * bits) / 8) * segmentHeight;
  }

  private async segment(n: number, rows: number): Promise<Uint8Array<ArrayBuffer>> {
    const { compression, predictor, segmentWidth, segmentHeight, planar, samples, bits } = this.l;
    const at = this.offsets[n];
    const size = Math.floor(this.bytesPerSegment / segmentHeight) * rows;
    if (at === undefined) throw new Refused("A part of this picture is missing.");
    const count = this.counts[n] ?? size;
    if (!at || !count) return new Uint8Array(size); // a hole
    const packed = await this.input.read(at, count);
    const bytes = await unpack(compression, this.l.reversed ? packed.map(reverse) : packed, size);
    if (predictor > 1 && bits >= 8) unpredict(bytes, predictor, segmentWidth, planar ? 1 : samples, bits, this.little);
    return bytes;
  }

  async raster({ left, top, width, height, most }: Region): Promise<Raster> {
    const { l } = this;
    const [right, bottom] = [Math.min(l.width, left + width), Math.min(l.height, top + height)];
    if (!(left >= 0 && top >= 0 && right > left && bottom > top)) throw new Refused("There is no such part of this picture.");
    const step = Math.max(1, Math.ceil(Math.max(right - left, bottom - top) / most));
    const [w, h] = [Math.ceil((right - left) / step), Math.ceil((bottom - top) / step)];
    const channels = channelsOf(l);
    const type = typeOf(l)!;
    const isWide = type === types.int64 || type === types.uint64;
    const values = (l.photometric === 3 ? new Uint8Array(w * h * 3) : isWide ? new Float64Array(w * h * channels) : type.holder(w * h * channels)) as Raster["values"];
    const across = Math.ceil(l.width / l.segmentWidth);
    const perPlane = across * Math.ceil(l.height / l.segmentHeight);
    const [c0, c1] = [Math.floor(left / l.segmentWidth), Math.floor((right - 1) / l.segmentWidth)];
    const [r0, r1] = [Math.floor(top / l.segmentHeight), Math.floor((bottom - 1) / l.segmentHeight)];
    const planes = l.planar ? (l.photometric === 3 ? 1 : channels) : 1;
    if ((c1 - c0 + 1) * (r1 - r0 + 1) * planes * this.bytesPerSegment > maxUnpacked) throw new Refused(`This has more than ${maxUnpacked / MiB} MiB. Choose a part of it.`);
    for (let plane = 0; plane < planes; plane++) {
      for (let r = r0; r <= r1; r++) {
        const rows = l.tiled ? l.segmentHeight : Math.min(l.segmentHeight, l.height - r * l.segmentHeight);
        for (let c = c0; c <= c1; c++) {
          const bytes = await this.segment(plane * perPlane + r * across + c, rows);
          this.place(bytes, rows, { x: c * l.segmentWidth, y: r * l.segmentHeight, left, top, right, bottom, step, w, plane }, values, channels, type);
        }
      }
    }
    return { width: w, height: h, channels, values, step: [step, step], inverted: l.photometric === 0 };
  }

  /** Copies the wanted pixels of a segment. */
  private place(bytes: Uint8Array, rows: number, p: Target, values: Raster["values"], channels: number, type: Type) {
    const { l, little, palette } = this;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const perPixel = l.planar ? 1 : l.samples;
    const rowBytes = Math.ceil((l.segmentWidth * perPixel * l.bits) / 8);
    const sample = (row: number, i: number) => {
      if (l.bits >= 8) return Number(type.read(view, row * rowBytes + (i * l.bits) / 8, little));
      return (bytes[row * rowBytes + ((i * l.bits) >> 3)]! >> (8 - l.bits - ((i * l.bits) & 7))) & ((1 << l.bits) - 1);
    };
    const firstAt = (from: number, start: number) => start + Math.ceil(Math.max(0, from - start) / p.step) * p.step;
    for (let y = firstAt(p.y, p.top); y < Math.min(p.bottom, p.y + rows); y += p.step) {
      for (let x = firstAt(p.x, p.left); x < Math.min(p.right, p.x + l.segmentWidth); x += p.step) {
        const to = (((y - p.top) / p.step) * p.w + (x - p.left) / p.step) * channels;
        const from = (x - p.x) * perPixel;
        if (l.photometric === 3) {
          const index = sample(y - p.y, from);
          for (let k = 0; k < 3; k++) values[to + k] = (palette[k * (palette.length / 3) + index] ?? 0) >> 8;
        } else if (l.planar) values[to + p.plane] = sample(y - p.y, from);
        else for (let k = 0; k < channels; k++) values[to + k] = sample(y - p.y, from + k);
      }
    }
  }
}

interface Target {
  x: number;
  y: number;
  left: number;
  top: number;
  right: number;
  bottom: number;
  step: number;
  w: number;
  plane: number;
}

serve(async (input) => {
  const file = new TagFile(input);
  const directories = await file.directories();
  const sheets: Sheet[] = [];
  for (const d of directories) {
    const l = await layoutOf(d);
    sheets.push({ name: `${l.width} × ${l.height}`, width: l.width, height: l.height, about: aboutOf(l) });
  }
  const { attributes, notes } = await attributesOf(directories[0]!);
  return {
    content: { view: "pictures", about: "", attributes, sheets, notes },
    picture: async (region) => (await Page.open(input, file, directories[region.sheet]!)).raster(region),
  };
});
