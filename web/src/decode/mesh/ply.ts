// PLY: elements with properties declared in a header, as text or binary in either byte order. Only
// points and faces are read.
import { Refused } from "../lib/serve";
import { checkPoints, checkTriangles, type Surface } from "./surface";
import { Scanner } from "./words";

interface Property {
  name: string;
  type: string;
  /** For a list: the type of its length. */
  count?: string;
}

interface Element {
  name: string;
  length: number;
  properties: Property[];
}

/** Reads the next value of a type. */
type Next = (type: string) => number;

const types: Record<string, [bytes: number, read: (view: DataView, at: number, little: boolean) => number]> = {
  char: [1, (v, at) => v.getInt8(at)], uchar: [1, (v, at) => v.getUint8(at)], short: [2, (v, at, le) => v.getInt16(at, le)], ushort: [2, (v, at, le) => v.getUint16(at, le)],
  int: [4, (v, at, le) => v.getInt32(at, le)], uint: [4, (v, at, le) => v.getUint32(at, le)], float: [4, (v, at, le) => v.getFloat32(at, le)], double: [8, (v, at, le) => v.getFloat64(at, le)],
};
for (const [alias, name] of Object.entries({ int8: "char", uint8: "uchar", int16: "short", uint16: "ushort", int32: "int", uint32: "uint", float32: "float", float64: "double" })) types[alias] = types[name]!;

interface Header {
  format: string;
  elements: Element[];
  comments: string[];
}

const known = (type: string | undefined): string => {
  if (!type || !Object.hasOwn(types, type)) throw new Refused(`Its type ${String(type).slice(0, 30)} is not known.`);
  return type;
};

function headerOf(text: string): Header {
  const header: Header = { format: "", elements: [], comments: [] };
  for (const line of text.split(/\r\n|\n|\r/)) {
    const [kind, ...words] = line.trim().split(/\s+/);
    if (kind === "format") header.format = words[0] ?? "";
    else if (kind === "comment" || kind === "obj_info") header.comments.push(words.join(" "));
    else if (kind === "element") header.elements.push({ name: words[0] ?? "", length: Number(words[1]), properties: [] });
    else if (kind === "property") {
      const isList = words[0] === "list";
      const property = isList ? { name: words[3] ?? "", type: known(words[2]), count: known(words[1]) } : { name: words[1] ?? "", type: known(words[0]) };
      header.elements.at(-1)?.properties.push(property);
    }
  }
  if (header.elements.some((e) => !Number.isSafeInteger(e.length) || e.length < 0)) throw new Refused("Its header does not declare the number of elements.");
  return header;
}

function reader(bytes: Uint8Array, format: string): Next {
  if (format === "ascii") {
    const words = new Scanner(bytes);
    return () => words.number();
  }
  if (!format.startsWith("binary_")) throw new Refused(`Its format ${format.slice(0, 30)} is not known.`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const little = format === "binary_little_endian";
  let at = 0;
  return (type) => {
    const [size, read] = types[type]!;
    if (at + size > view.byteLength) throw new Refused("It ends before its last element.");
    return read(view, (at += size) - size, little);
  };
}

class Reading {
  readonly points: number[] = [];
  readonly colours: number[] = [];
  readonly corners: number[] = [];
  faces = 0;
  passed: string[] = [];

  constructor(private readonly next: Next) {}

  private list({ type, count }: Property): number[] {
    const length = this.next(count!);
    if (!(length >= 0 && length < 1e6)) throw new Refused("One of its lists is too long.");
    return Array.from({ length }, () => this.next(type));
  }

  pass({ name, length, properties }: Element): void {
    this.passed.push(`${length} ${name}`);
    for (let i = 0; i < length && properties.length; i++) for (const p of properties) p.count ? this.list(p) : this.next(p.type);
  }

  vertices({ length, properties }: Element): void {
    checkPoints(length);
    const place = (...names: string[]) => properties.findIndex((p) => !p.count && names.includes(p.name));
    const axes = [place("x"), place("y"), place("z")];
    const hues = [place("red", "r", "diffuse_red"), place("green", "g", "diffuse_green"), place("blue", "b", "diffuse_blue")];
    if (axes.includes(-1)) throw new Refused("Its points lack x, y or z.");
    const isColoured = !hues.includes(-1);
    const scale = isColoured ? ({ float: 255, float32: 255, double: 255, float64: 255, ushort: 1 / 257, uint16: 1 / 257 } as Record<string, number>)[properties[hues[0]!]!.type] ?? 1 : 1;
    const values = new Float64Array(properties.length);
    for (let i = 0; i < length; i++) {
      for (const [n, p] of properties.entries()) p.count ? this.list(p) : (values[n] = this.next(p.type));
      for (const axis of axes) this.points.push(values[axis]!);
      if (isColoured) for (const hue of hues) this.colours.push(Math.max(0, Math.min(255, Math.round(scale * values[hue]!))));
    }
  }

  triangles({ length, properties }: Element): void {
    const among = properties.findIndex((p) => p.count && /^vertex_ind(ices|ex)$/.test(p.name));
    if (among < 0) return this.pass({ name: "face", length, properties });
    this.faces += length;
    checkTriangles(this.faces);
    for (let i = 0; i < length; i++) {
      for (const [n, p] of properties.entries()) {
        if (!p.count) this.next(p.type);
        else if (n !== among) this.list(p);
        else this.face(this.list(p));
      }
    }
  }

  private face(around: number[]): void {
    for (let i = 2; i < around.length; i++) this.corners.push(around[0]!, around[i - 1]!, around[i]!);
    checkTriangles(this.corners.length / 3);
  }
}

export function ply(bytes: Uint8Array<ArrayBuffer>): Surface {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, 64 << 10));
  const [all, lines] = /^ply\s([^]*?)\nend_header[ \t]*(?:\r\n|\n|\r)/.exec(start.replace(/\r(?!\n)/g, "\n")) ?? [];
  if (!all) throw new Refused("It has no PLY header.");
  const header = headerOf(lines!);
  const reading = new Reading(reader(bytes.subarray(all.length), header.format));
  for (const element of header.elements) {
    if (element.name === "vertex") reading.vertices(element);
    else if (element.name === "face") reading.triangles(element);
    else reading.pass(element);
  }
  const { points, colours, corners, faces } = reading;
  const wrong = corners.find((c) => !(c >= 0 && c < points.length / 3));
  if (wrong !== undefined) throw new Refused(`A face refers to the point ${wrong}, which does not exist.`);
  const format = { ascii: "PLY as text", binary_little_endian: "binary PLY", binary_big_endian: "binary PLY, big-endian" }[header.format] ?? "PLY";
  const surface: Surface = { points, corners, title: "", facts: [["format", format], ...(faces ? [["faces", String(faces)] as [string, string]] : [])], notes: [] };
  if (header.comments.length) surface.facts.push(["comments", header.comments.join("\n").slice(0, 2000)]);
  if (reading.passed.length) surface.notes.push(`Not shown: ${reading.passed.join(", ").slice(0, 300)}.`);
  if (colours.length) surface.colours = Uint8Array.from(colours);
  return surface;
}
