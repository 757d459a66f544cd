// TIFF and BigTIFF: pages of strips or tiles. Only the visible ones are read.
import type { Raster, Region, Sheet } from "../sight/messages";
import { type Type, types } from "./lib/arrays";
import { type Input, maxBytes, MiB, Refused, serve } from "./lib/serve";
import { unJPEG } from "./tiff/jpeg";
import { aboutOf, channelsOf, copiesOf, isYCbCr, JPEG, type Layout, layoutOf, indexed, typeOf } from "./tiff/layout";
import { meaningOf, meant, saidOf } from "./tiff/meaning";
import { attributesOf, type Directory, pixelOf, TagFile } from "./tiff/tags";
import { unpack, unpredict, whyNot } from "./tiff/unpack";

/** Limits of a view: unpacked bytes, and pixels. */
const maxUnpacked = 512 * MiB;

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
    private readonly tables: Uint8Array,
  ) {}

  static async open(input: Input, file: TagFile, d: Directory): Promise<Page> {
    const l = await layoutOf(d);
    const why = whyNot(l);
    if (why) throw new Refused(why);
    if (!typeOf(l)) throw new Refused(`Its samples have ${l.bits} bits, which is not supported.`);
    if (!(l.segmentWidth > 0 && l.segmentHeight > 0) || l.samples > 64) throw new Refused("One of its directories is broken.");
    const offsets = await d.numbers(l.tiled ? 324 : 273);
    return new Page(input, file.little, l, offsets, await d.numbers(l.tiled ? 325 : 279), await d.numbers(320), await d.bytes(347));
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
    if (compression === JPEG) return unJPEG(packed, this.tables, { width: segmentWidth, height: rows, samples: planar ? 1 : samples, isYCbCr: isYCbCr(this.l) });
    const bytes = await unpack(compression, this.l.reversed ? packed.map(reverse) : packed, size);
    if (predictor > 1 && bits % 8 === 0) unpredict(bytes, predictor, segmentWidth, planar ? 1 : samples, bits, this.little);
    return bytes;
  }

  async raster({ left, top, width, height, most }: Region): Promise<Raster> {
    const { l } = this;
    const [right, bottom] = [Math.min(l.width, left + width), Math.min(l.height, top + height)];
    if (!(left >= 0 && top >= 0 && right > left && bottom > top)) throw new Refused("This part of the picture does not exist.");
    const step = Math.max(1, Math.ceil(Math.max(right - left, bottom - top) / most));
    const [w, h] = [Math.ceil((right - left) / step), Math.ceil((bottom - top) / step)];
    const channels = channelsOf(l);
    const type = typeOf(l)!;
    const isWide = type === types.int64 || type === types.uint64;
    const values = (l.photometric === indexed ? new Uint8Array(w * h * 3) : isWide ? new Float64Array(w * h * channels) : type.holder(w * h * channels)) as Raster["values"];
    const across = Math.ceil(l.width / l.segmentWidth);
    const perPlane = across * Math.ceil(l.height / l.segmentHeight);
    const [c0, c1] = [Math.floor(left / l.segmentWidth), Math.floor((right - 1) / l.segmentWidth)];
    const rows = new Set(Array.from({ length: h }, (_, i) => Math.floor((top + i * step) / l.segmentHeight)));
    const planes = l.planar ? (l.photometric === indexed ? 1 : channels) : 1;
    if ((c1 - c0 + 1) * rows.size * planes * this.bytesPerSegment > maxUnpacked) throw new Refused(`This has more than ${maxUnpacked / MiB} MiB. Choose a part of it.`);
    const wanted: [plane: number, row: number, column: number][] = [];
    for (let plane = 0; plane < planes; plane++) {
      for (const r of rows) for (let c = c0; c <= c1; c++) wanted.push([plane, r, c]);
    }
    const atOnce = Math.max(1, Math.min(16, Math.floor(maxBytes / this.bytesPerSegment)));
    for (let i = 0; i < wanted.length; i += atOnce) {
      await Promise.all(wanted.slice(i, i + atOnce).map(async ([plane, r, c]) => {
        const height = l.tiled ? l.segmentHeight : Math.min(l.segmentHeight, l.height - r * l.segmentHeight);
        const bytes = await this.segment(plane * perPlane + r * across + c, height);
        this.place(bytes, height, { x: c * l.segmentWidth, y: r * l.segmentHeight, left, top, right, bottom, step, w, plane }, values, channels, type);
      }));
    }
    return { width: w, height: h, channels, values, step: [step, step], inverted: l.photometric === 0 };
  }

  /** Copies the requested pixels of a segment. */
  private place(bytes: Uint8Array, rows: number, p: Target, values: Raster["values"], channels: number, type: Type) {
    const { l, little, palette } = this;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const perPixel = l.planar ? 1 : l.samples;
    const rowBytes = Math.ceil((l.segmentWidth * perPixel * l.bits) / 8);
    const sample = (row: number, i: number) => {
      const at = row * rowBytes + ((i * l.bits) >> 3);
      if (l.bits % 8 === 0) return Number(type.read(view, at, little));
      return (((bytes[at]! << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)) >> (24 - l.bits - ((i * l.bits) & 7))) & ((1 << l.bits) - 1);
    };
    for (let y = taken(p.top, p.y, p.step); y < Math.min(p.bottom, p.y + rows); y += p.step) {
      for (let x = taken(p.left, p.x, p.step); x < Math.min(p.right, p.x + l.segmentWidth); x += p.step) {
        const to = (((y - p.top) / p.step) * p.w + (x - p.left) / p.step) * channels;
        const from = (x - p.x) * perPixel;
        if (l.photometric === indexed) {
          const index = sample(y - p.y, from);
          for (let k = 0; k < 3; k++) values[to + k] = (palette[k * (palette.length / 3) + index] ?? 0) >> 8;
        } else if (l.planar) values[to + p.plane] = sample(y - p.y, from);
        else for (let k = 0; k < channels; k++) values[to + k] = sample(y - p.y, from + k);
      }
    }
  }
}

/** The first selected position that is not before `from`: every `step` from `start`. */
const taken = (start: number, from: number, step: number) => start + Math.ceil(Math.max(0, from - start) / step) * step;

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
  const layouts = await Promise.all(directories.map(layoutOf));
  const copies = copiesOf(layouts);
  const { attributes, notes } = await attributesOf(directories[0]!);
  const pixel = await pixelOf(directories[0]!, attributes);
  const meanings = await Promise.all(directories.map(meaningOf));
  const sheets = layouts.map(({ width, height }, i): Sheet => {
    const of = copies.findIndex((all) => all.includes(i));
    const name = of < 0 ? `${width} × ${height}` : `${width} × ${height}, a smaller copy of page ${of + 1}`;
    return { name, width, height, about: aboutOf(layouts[i]!), ...(pixel && width === layouts[0]!.width && { pixel }), ...(channelsOf(layouts[i]!) === 1 && saidOf(meanings[i])) };
  });
  const picture = async (region: Region) => {
    const raster = await stored(region);
    return region.stored ? raster : meant(raster, meanings[region.sheet]);
  };
  const stored = async (region: Region): Promise<Raster> => {
    const { sheet, left, top, width, height, most } = region;
    const whole = layouts[sheet]!;
    const wanted = Math.max(width, height) / most;
    const copy = copies[sheet]!.findLast((i) => whole.width / layouts[i]!.width <= Math.max(1, 1.5 * wanted));
    if (copy === undefined) return (await Page.open(input, file, directories[sheet]!)).raster(region);
    const [across, down] = [layouts[copy]!.width / whole.width, layouts[copy]!.height / whole.height];
    const part = { left: Math.floor(left * across), top: Math.floor(top * down), width: Math.max(1, Math.round(width * across)), height: Math.max(1, Math.round(height * down)) };
    const raster = await (await Page.open(input, file, directories[copy]!)).raster({ sheet: copy, most, ...part });
    return { ...raster, step: [raster.step[0] / down, raster.step[1] / across], copied: true };
  };
  return { content: { view: "pictures", about: "", attributes, sheets, notes }, picture };
});
