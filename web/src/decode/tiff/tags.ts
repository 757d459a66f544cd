// The directories of a TIFF file: its pictures and the positions of their segments.
import type { Attribute } from "../../sight/messages";
import { type Input, Refused } from "../lib/serve";

/** The size of a value by type. */
const sizes: Record<number, number> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8 };

/** Limits: bytes of one directory value, and number of directories. */
const maxValue = 16 << 20;
const maxDirectories = 3_000;

export class Directory {
  constructor(
    private readonly file: TagFile,
    private readonly entries: Map<number, { type: number; count: number; at: number }>,
  ) {}

  has = (tag: number) => this.entries.has(tag);

  async numbers(tag: number, otherwise: number[] = []): Promise<number[]> {
    const found = this.entries.get(tag);
    if (!found) return otherwise;
    const { type, count, at } = found;
    const size = sizes[type];
    if (!size || type === 2) return otherwise;
    const bytes = await this.file.bytes(at, count * size);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const little = this.file.little;
    const read: Record<number, (p: number) => number> = {
      3: (p) => view.getUint16(p, little), 4: (p) => view.getUint32(p, little), 13: (p) => view.getUint32(p, little), 6: (p) => view.getInt8(p),
      5: (p) => view.getUint32(p, little) / view.getUint32(p + 4, little), 8: (p) => view.getInt16(p, little), 9: (p) => view.getInt32(p, little),
      10: (p) => view.getInt32(p, little) / view.getInt32(p + 4, little), 11: (p) => view.getFloat32(p, little), 12: (p) => view.getFloat64(p, little),
      16: (p) => Number(view.getBigUint64(p, little)), 17: (p) => Number(view.getBigInt64(p, little)), 18: (p) => Number(view.getBigUint64(p, little)),
    };
    const one = read[type] ?? ((p: number) => view.getUint8(p));
    return Array.from({ length: Math.floor(bytes.length / size) }, (_, i) => one(i * size));
  }

  async number(tag: number, otherwise: number): Promise<number> {
    return (await this.numbers(tag))[0] ?? otherwise;
  }

  async bytes(tag: number): Promise<Uint8Array<ArrayBuffer>> {
    const found = this.entries.get(tag);
    return found ? this.file.bytes(found.at, found.count * (sizes[found.type] ?? 1)) : new Uint8Array(0);
  }

  async text(tag: number): Promise<string> {
    return new TextDecoder().decode(await this.bytes(tag)).replace(/\0+$/, "").trim();
  }
}

export class TagFile {
  little = true;
  private big = false;

  constructor(private readonly input: Input) {}

  async bytes(at: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (length > maxValue) throw new Refused("A part of its directory is too large.");
    return this.input.read(at, length);
  }

  /** All directories in order; smaller copies follow their original. */
  async directories(): Promise<Directory[]> {
    const head = new DataView((await this.bytes(0, 16)).buffer);
    this.little = head.getUint16(0) === 0x4949;
    this.big = head.getUint16(2, this.little) === 43;
    const all: Directory[] = [];
    const seen = new Set<number>();
    let at = this.big ? Number(head.getBigUint64(8, this.little)) : head.getUint32(4, this.little);
    while (at && !seen.has(at) && all.length < maxDirectories) {
      seen.add(at);
      const { directory, next } = await this.directory(at);
      all.push(directory);
      for (const inner of await directory.numbers(330)) {
        if (seen.has(inner) || all.length >= maxDirectories) continue;
        seen.add(inner);
        all.push((await this.directory(inner)).directory);
      }
      at = next;
    }
    if (!all.length) throw new Refused("It has no pictures.");
    return all;
  }

  private async directory(at: number): Promise<{ directory: Directory; next: number }> {
    const [countBytes, entryBytes, inline] = this.big ? [8, 20, 8] : [2, 12, 4];
    const head = new DataView((await this.bytes(at, countBytes)).buffer);
    const count = this.big ? Number(head.getBigUint64(0, this.little)) : head.getUint16(0, this.little);
    if (count > 4096) throw new Refused("One of its directories is broken.");
    const view = new DataView((await this.bytes(at + countBytes, count * entryBytes + inline)).buffer);
    const long = (p: number) => (this.big ? Number(view.getBigUint64(p, this.little)) : view.getUint32(p, this.little));
    const entries = new Map<number, { type: number; count: number; at: number }>();
    for (let i = 0; i < count; i++) {
      const p = i * entryBytes;
      const type = view.getUint16(p + 2, this.little);
      const values = long(p + 4);
      const isInline = values * (sizes[type] ?? 1) <= inline;
      const valueAt = p + entryBytes - inline;
      entries.set(view.getUint16(p, this.little), { type, count: values, at: isInline ? at + countBytes + valueAt : long(valueAt) });
    }
    const end = count * entryBytes;
    return { directory: new Directory(this, entries), next: end + inline <= view.byteLength ? long(end) : 0 };
  }
}

const names: [tag: number, name: string][] = [
  [270, "description"], [271, "make"], [272, "model"], [285, "page name"], [305, "software"], [306, "time"], [315, "artist"], [316, "computer"], [33432, "copyright"],
];
const units = ["", "", "inch", "centimetre"];

/** The attributes of a picture from its directory; a long description becomes a note. */
export async function attributesOf(d: Directory): Promise<{ attributes: Attribute[]; notes: [string, string][] }> {
  const attributes: Attribute[] = [];
  const notes: [string, string][] = [];
  for (const [tag, name] of names) {
    const text = d.has(tag) ? await d.text(tag) : "";
    if (!text) continue;
    if (/<OME[\s>]/.test(text.slice(0, 2000))) notes.push(["OME-XML", text.slice(0, 400_000)]);
    else if (text.length > 500) notes.push([name, text.slice(0, 400_000)]);
    else attributes.push([name, text]);
  }
  const unit = units[await d.number(296, 2)];
  const [x, y] = [await d.number(282, 0), await d.number(283, 0)];
  if (x > 0 && unit) attributes.push(["resolution", `${Number(x.toPrecision(7))} × ${Number(y.toPrecision(7))} pixels per ${unit}`]);
  const ome = notes.find(([title]) => title === "OME-XML")?.[1] ?? "";
  for (const axis of ["X", "Y", "Z"]) {
    const size = new RegExp(`PhysicalSize${axis}="([\\d.eE+-]+)"`).exec(ome)?.[1];
    if (size) attributes.push([`size of a pixel, ${axis}`, `${size} ${new RegExp(`PhysicalSize${axis}Unit="([^"]{1,20})"`).exec(ome)?.[1] ?? "µm"}`]);
  }
  return { attributes, notes };
}

const lengths: Record<string, number> = { nm: 1e-9, "µm": 1e-6, "μm": 1e-6, um: 1e-6, micron: 1e-6, "\\u00B5m": 1e-6, mm: 1e-3, cm: 1e-2, m: 1, pm: 1e-12, "Å": 1e-10 };

/** The side of a pixel in metres from OME-XML, ImageJ, Aperio, or a resolution tag that is not a
    print setting; undefined if unknown. */
export async function pixelOf(d: Directory, attributes: Attribute[]): Promise<number | undefined> {
  const positive = (metres: number) => (metres > 0 && Number.isFinite(metres) ? metres : undefined);
  const [ome, unit = ""] = attributes.find(([name]) => name === "size of a pixel, X")?.[1].split(" ") ?? [];
  if (ome) return positive(Number(ome) * (lengths[unit] ?? NaN));
  const text = d.has(270) ? await d.text(270) : "";
  const perUnit = await d.number(282, 0);
  if (text.startsWith("ImageJ=")) return positive((lengths[/^unit=(.{1,10})$/m.exec(text)?.[1]?.trim() ?? ""] ?? NaN) / perUnit);
  const aperio = /\bMPP *= *([\d.]+)/.exec(text)?.[1];
  if (aperio) return positive(Number(aperio) * 1e-6);
  return (await d.number(296, 2)) === 3 && perUnit > 1000 ? positive(0.01 / perUnit) : undefined;
}
