// FlatBuffers tables: fields by number, which may be absent.
import { Refused } from "../lib/serve";

/** The maximum size of all texts of a buffer. Many texts can share one position. */
const maxTexts = 32 << 20;

export class Table {
  private readonly fields: number;
  private readonly count: number;

  constructor(
    private readonly view: DataView,
    private readonly at: number,
    private readonly texts = { left: maxTexts },
  ) {
    this.fields = at - view.getInt32(at, true);
    this.count = (view.getUint16(this.fields, true) - 4) >> 1;
  }

  /** The root table of a buffer. */
  static root(bytes: Uint8Array): Table {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new Table(view, view.getUint32(0, true));
  }

  private place(field: number): number {
    const offset = field < this.count ? this.view.getUint16(this.fields + 4 + 2 * field, true) : 0;
    return offset ? this.at + offset : 0;
  }
  private target(field: number): number {
    const at = this.place(field);
    return at ? at + this.view.getUint32(at, true) : 0;
  }

  byte = (field: number, otherwise = 0) => (this.place(field) ? this.view.getUint8(this.place(field)) : otherwise);
  short = (field: number, otherwise = 0) => (this.place(field) ? this.view.getInt16(this.place(field), true) : otherwise);
  int = (field: number, otherwise = 0) => (this.place(field) ? this.view.getInt32(this.place(field), true) : otherwise);
  long = (field: number) => (this.place(field) ? this.view.getBigInt64(this.place(field), true) : 0n);
  has = (field: number) => this.place(field) !== 0;

  table(field: number): Table | undefined {
    const at = this.target(field);
    return at ? new Table(this.view, at, this.texts) : undefined;
  }
  text(field: number): string {
    const at = this.target(field);
    if (!at) return "";
    const length = this.view.getUint32(at, true);
    this.texts.left -= length;
    if (this.texts.left < 0) throw new Refused("Its schema has too much text.");
    return new TextDecoder().decode(new Uint8Array(this.view.buffer, this.view.byteOffset + at + 4, length));
  }
  /** The position and the length of a vector, bounded by the buffer. */
  vector(field: number, size: number): { at: number; length: number; view: DataView } {
    const at = this.target(field);
    const length = at ? this.view.getUint32(at, true) : 0;
    if (at + 4 + length * size > this.view.byteLength) throw new RangeError("a vector ends after the buffer");
    return { at: at + 4, length, view: this.view };
  }
  tables(field: number): Table[] {
    const { at, length, view } = this.vector(field, 4);
    return Array.from({ length }, (_, i) => new Table(view, at + 4 * i + view.getUint32(at + 4 * i, true), this.texts));
  }
  longs(field: number, perValue = 1): number[] {
    const { at, length, view } = this.vector(field, 8 * perValue);
    return Array.from({ length: length * perValue }, (_, i) => Number(view.getBigInt64(at + 8 * i, true)));
  }
}
