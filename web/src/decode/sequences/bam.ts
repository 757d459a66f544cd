// BAM: the header and the records of SAM in binary form.
import type { Attribute, Item, Part, Selection } from "../../sight/messages";
import { cellText, partOfColumns, rowsAndColumns } from "../lib/cells";
import type { Growing } from "../lib/growing";
import { MiB, Refused } from "../lib/serve";
import { type Format, maxRecords, Numbers, textOf } from "./format";
import { flagWords, type HeaderTable, samAttributes, samColumns, samHeaderTables } from "./lines";

/** The maximum sizes of a header and of a record in bytes. */
const maxHeader = 32 * MiB;
const maxRecord = 16 * MiB;

/** Limits of a cell: letters of a read, and bytes of its tags. */
const maxShown = 2000;

export class Bam implements Format {
  name = "BAM";
  records = "alignments";
  problem?: string;
  private readonly starts = new Numbers();
  private references: [name: string, length: number][] = [];
  private header: string[] = [];
  private next = 0; // 0: the header has not been read
  private text!: Growing;
  private tables: HeaderTable[] = [];

  count = () => this.starts.length;
  about = () => [this.references.length === 1 ? "one reference" : `${this.references.length} references`];
  attributes = (): Attribute[] => samAttributes(this.header);

  private view = () => new DataView(this.text.bytes.buffer, 0, this.text.length);

  scan(text: Growing, last: boolean) {
    this.text = text;
    if (!this.next) this.readHeader(last);
    const view = this.view();
    while (this.next && !this.problem && this.next + 36 <= text.length) {
      const bytes = view.getInt32(this.next, true);
      if (!(bytes >= 32 && bytes <= maxRecord)) {
        if (!this.count()) throw new Refused("The length of its first record is not valid.");
        this.problem = `the length of record ${this.count() + 1} is not valid; the rest is not shown`;
      } else if (this.count() >= maxRecords) this.problem = `the first ${maxRecords} are shown`;
      else if (this.next + 4 + bytes > text.length) break;
      else {
        this.starts.push(this.next);
        this.next += 4 + bytes;
      }
    }
    if (last && !this.problem && this.next < text.length) this.problem = "it ends within a record";
  }

  /** Reads the header once it is complete. */
  private readHeader(last: boolean) {
    const view = this.view();
    const short = () => {
      if (last || this.text.length > maxHeader) throw new Refused("Its header is not complete.");
    };
    if (this.text.length < 12) return short();
    const length = view.getInt32(4, true);
    if (!(length >= 0 && length <= maxHeader)) throw new Refused("The length of its header is not valid.");
    if (this.text.length < 12 + length) return short();
    const references: [string, number][] = [];
    let at = 12 + length;
    for (let left = view.getInt32(8 + length, true); left > 0; left--) {
      if (at + 8 > this.text.length) return short();
      const name = view.getInt32(at, true);
      if (!(name > 0 && name < 1 << 16)) throw new Refused("The name of a reference is not valid.");
      if (at + 8 + name > this.text.length) return short();
      references.push([textOf(this.text.bytes.subarray(at + 4, at + 3 + name)), view.getInt32(at + 4 + name, true)]);
      at += 8 + name;
    }
    this.references = references;
    this.header = textOf(this.text.bytes.subarray(8, 8 + length)).replace(/\0+$/, "").split("\n");
    const tables = samHeaderTables(this.header).filter((t) => t.rows.length && t.name !== "references");
    this.tables = [{ name: "references", columns: ["name", "length"], rows: references.map(([name, n]) => [name, String(n)]) }, ...tables].filter((t) => t.rows.length);
    this.next = at;
  }

  items = (): Item[] => [
    { name: this.records, about: `${samColumns.length} columns`, id: 0, shape: [this.count(), samColumns.length], columns: samColumns },
    ...this.tables.map((t, i): Item => ({ name: t.name, about: String(t.rows.length), id: i + 1, shape: [t.rows.length, t.columns.length], columns: t.columns })),
  ];

  slice(s: Selection): Part {
    const header = this.tables[s.id - 1];
    const { from, to, columns, line } = rowsAndColumns(s, header?.rows.length ?? this.count(), header?.columns.length ?? samColumns.length);
    const rows = Array.from({ length: to - from }, (_, i) => header?.rows[from + i] ?? this.record(from + i));
    return partOfColumns(columns.map((c) => rows.map((row) => cellText(row[c] ?? ""))), line);
  }

  private reference = (id: number) => (id < 0 ? "*" : (this.references[id]?.[0] ?? "?"));

  private record(i: number): string[] {
    const start = this.starts.at(i) + 4;
    const end = start + this.view().getInt32(start - 4, true);
    const view = new DataView(this.text.bytes.buffer, start, end - start);
    const [flag, letters, operations, nameLength] = [view.getUint16(14, true), view.getInt32(16, true), view.getUint16(12, true), view.getUint8(8)];
    const cigarAt = 32 + nameLength;
    const lettersAt = cigarAt + 4 * operations;
    const qualityAt = lettersAt + ((letters + 1) >> 1);
    if (letters < 0 || qualityAt + letters > view.byteLength) return ["not read: this record is damaged"];
    const bytes = new Uint8Array(view.buffer, start, view.byteLength);
    const cigar = Array.from({ length: Math.min(operations, maxShown) }, (_, o) => {
      const value = view.getUint32(cigarAt + 4 * o, true);
      return `${value >>> 4}${"MIDNSHP=X"[value & 15] ?? "?"}`;
    });
    const shown = Math.min(letters, maxShown);
    const sequence = Array.from({ length: shown }, (_, n) => "=ACMGRSVTWYHKDBN"[n & 1 ? bytes[lettersAt + (n >> 1)]! & 15 : bytes[lettersAt + (n >> 1)]! >> 4]);
    const quality = bytes.subarray(qualityAt, qualityAt + shown);
    const mate = view.getInt32(20, true);
    const same = mate >= 0 && mate === view.getInt32(0, true);
    return [
      textOf(bytes.subarray(32, cigarAt - 1)), String(flag), flagWords(flag), this.reference(view.getInt32(0, true)), String(view.getInt32(4, true) + 1), String(view.getUint8(9)),
      cigar.join("") || "*", same ? "=" : this.reference(mate), String(view.getInt32(24, true) + 1), String(view.getInt32(28, true)), sequence.join("") || "*",
      !shown || quality[0] === 255 ? "*" : String.fromCharCode(...quality.map((q) => q + 33)), tags(view, qualityAt + letters),
    ];
  }
}

const numbers: Record<string, [size: number, read: (v: DataView, at: number) => number]> = {
  c: [1, (v, at) => v.getInt8(at)], C: [1, (v, at) => v.getUint8(at)], s: [2, (v, at) => v.getInt16(at, true)], S: [2, (v, at) => v.getUint16(at, true)],
  i: [4, (v, at) => v.getInt32(at, true)], I: [4, (v, at) => v.getUint32(at, true)], f: [4, (v, at) => Number(v.getFloat32(at, true).toPrecision(6))],
};

/** The tags of a record in SAM notation. */
function tags(view: DataView, from: number): string {
  const found: string[] = [];
  let characters = 0;
  const character = (at: number) => String.fromCharCode(view.getUint8(at));
  for (let at = from; at + 3 < view.byteLength && characters < maxShown; ) {
    const name = character(at) + character(at + 1);
    const type = character(at + 2);
    at += 3;
    const number = numbers[type];
    let text: string;
    if (number) {
      text = `${type === "f" ? "f" : "i"}:${number[1](view, at)}`;
      at += number[0];
    } else if (type === "A") text = `A:${character(at++)}`;
    else if (type === "Z" || type === "H") {
      const start = at;
      while (at < view.byteLength && view.getUint8(at)) at++;
      text = `${type}:${textOf(new Uint8Array(view.buffer, view.byteOffset + start, Math.min(at - start, maxShown)))}`;
      at++;
    } else if (type === "B" && numbers[character(at)] && at + 5 <= view.byteLength) {
      const [size, read] = numbers[character(at)]!;
      const count = view.getUint32(at + 1, true);
      const fits = Math.min(count, maxShown, Math.floor((view.byteLength - at - 5) / size));
      text = `B:${character(at)},${Array.from({ length: fits }, (_, i) => read(view, at + 5 + i * size)).join(",")}`;
      at += 5 + count * size;
    } else return [...found, "…"].join(" ");
    found.push(`${name}:${text}`);
    characters += text.length;
  }
  return found.join(" ");
}
