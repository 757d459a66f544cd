// Tab-separated records: VCF, SAM, GFF, GTF and BED, with their headers.
import type { Attribute, Item, Part, Selection } from "../../sight/messages";
import { cellText, partOfColumns, rowsAndColumns } from "../lib/cells";
import type { Growing } from "../lib/growing";
import { Refused } from "../lib/serve";
import { eachLine, type Format, maxRecords, Numbers, textOf } from "./format";

/** Limits: kept header lines, and bytes per line. */
const maxHeader = 100_000;
const maxLine = 4 << 20;

/** A table of a header, such as the references of SAM. */
export interface HeaderTable {
  name: string;
  columns: string[];
  rows: string[][];
}

export abstract class LineFormat implements Format {
  abstract name: string;
  abstract records: string;
  problem?: string;
  protected readonly starts = new Numbers();
  protected readonly ends = new Numbers();
  protected header: string[] = [];
  protected text!: Growing;
  private next = 0;
  private headers: HeaderTable[] | undefined;

  /** Columns of the table of records. */
  abstract columns(): string[];
  /** Whether a line belongs to the header, by its first bytes. */
  protected abstract isHeader(start: number): boolean;
  /** The fields of a record as cells. */
  protected abstract cells(fields: string[]): string[];
  protected abstract headerTables(): HeaderTable[];
  abstract attributes(): Attribute[];

  count = () => this.starts.length;

  scan(text: Growing, last: boolean) {
    this.text = text;
    this.next = eachLine(text, this.next, last, (start, end) => {
      if (end === start) return true;
      if (this.isHeader(start)) {
        if (this.header.length < maxHeader) this.header.push(textOf(text.bytes.subarray(start, Math.min(end, start + maxLine))));
        return true;
      }
      if (this.count() >= maxRecords) {
        this.problem = `the first ${maxRecords} are shown`;
        return false;
      }
      this.starts.push(start);
      this.ends.push(end);
      return true;
    });
    this.headers = undefined;
  }

  about = (): string[] => [];

  protected fields = (i: number) => textOf(this.text.bytes.subarray(this.starts.at(i), Math.min(this.ends.at(i), this.starts.at(i) + maxLine))).split("\t");

  items(): Item[] {
    this.headers ??= this.headerTables().filter((t) => t.rows.length);
    const columns = this.columns();
    return [
      { name: this.records, about: `${columns.length} columns`, id: 0, shape: [this.count(), columns.length], columns },
      ...this.moreItems(),
      ...this.headers.map((t, i): Item => ({ name: t.name, about: String(t.rows.length), id: i + 1, shape: [t.rows.length, t.columns.length], columns: t.columns })),
    ];
  }

  /** Tables in addition to the records, which read() reads. */
  protected moreItems = (): Item[] => [];

  slice(s: Selection): Part {
    this.items();
    const header = this.headers![s.id - 1];
    const columns = header?.columns ?? this.columns();
    const { from, to, columns: shown, line } = rowsAndColumns(s, header?.rows.length ?? this.count(), columns.length);
    const rows = Array.from({ length: to - from }, (_, i) => (header ? header.rows[from + i]! : this.cells(this.fields(from + i))));
    return partOfColumns(shown.map((c) => rows.map((row) => cellText(row[c] ?? ""))), line);
  }
}

/** Converts rows of keys and values to a table whose columns are all keys; the given keys come
    first, if a row has them. */
function tableOf(name: string, rows: Map<string, string>[], first: string[]): HeaderTable {
  const keys = new Set(rows.flatMap((row) => [...row.keys()]));
  const columns = [...new Set([...first.filter((key) => keys.has(key)), ...keys])].slice(0, 200);
  return { name, columns, rows: rows.map((row) => columns.map((c) => row.get(c) ?? "")) };
}

/** The keys and values of <ID=…,Description="…">. */
function structured(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, key, quoted, plain] of text.matchAll(/([^=,<>]+)=(?:"((?:[^"\\]|\\.)*)"|([^,>]*))/g)) found.set(key!.trim(), quoted !== undefined ? quoted.replace(/\\(["\\])/g, "$1") : plain!);
  return found;
}

const tables: Record<string, string> = { INFO: "INFO fields", FORMAT: "FORMAT fields", FILTER: "filters", contig: "contigs", ALT: "alternative alleles", SAMPLE: "about samples", META: "META", PEDIGREE: "pedigree" };

/** The number of the INFO table; header tables have other numbers. */
const infoTable = -1;

export class Vcf extends LineFormat {
  name = "VCF";
  records = "variants";

  protected isHeader = (start: number) => this.text.bytes[start] === 35; // #
  columns = () => (this.header.findLast((l) => /^#CHROM/.test(l)) ?? "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO").slice(1).split("\t");
  protected cells = (fields: string[]) => fields;

  private lines = () =>
    this.header.flatMap((line): [string, string][] => {
      const [, key, value] = /^##([^=]+)=([^]*)$/.exec(line) ?? [];
      return key ? [[key, value!]] : [];
    });

  attributes = (): Attribute[] => this.lines().filter(([, value]) => !value.startsWith("<"));

  override about = (): string[] => {
    const samples = this.columns().length - 9;
    return samples > 0 ? [samples === 1 ? "one sample" : `${samples} samples`] : ["no samples"];
  };

  private infoKeys: string[] = [];

  /** The INFO of each variant, with a column for each field. */
  protected override moreItems = (): Item[] => {
    const declared = this.lines().filter(([key]) => key === "INFO").map(([, value]) => structured(value).get("ID") ?? "");
    this.infoKeys = [...new Set(declared)].filter(Boolean).slice(0, 500);
    const columns = ["position", ...this.infoKeys];
    return this.infoKeys.length ? [{ name: "INFO by variant", about: `${this.infoKeys.length} fields`, id: infoTable, shape: [this.count(), columns.length], columns }] : [];
  };

  override slice(s: Selection): Part {
    if (s.id !== infoTable) return super.slice(s);
    const { from, to, columns, line } = rowsAndColumns(s, this.count(), this.infoKeys.length + 1);
    const rows = Array.from({ length: to - from }, (_, i) => {
      const fields = this.fields(from + i);
      const found = new Map((fields[7] ?? "").split(";").map((f): [string, string] => (f.includes("=") ? [f.slice(0, f.indexOf("=")), f.slice(f.indexOf("=") + 1)] : [f, "yes"])));
      return [`${fields[0]}:${fields[1]}`, ...this.infoKeys.map((key) => found.get(key) ?? "")];
    });
    return partOfColumns(columns.map((c) => rows.map((row) => cellText(row[c]!))), line);
  }

  protected headerTables(): HeaderTable[] {
    const rows = new Map<string, Map<string, string>[]>();
    for (const [key, value] of this.lines()) {
      if (!value.startsWith("<")) continue;
      if (!rows.has(key)) rows.set(key, []);
      rows.get(key)!.push(structured(value));
    }
    const samples = this.columns().slice(9).map((name) => [name]);
    return [...[...rows].map(([key, found]) => tableOf(tables[key] ?? key, found, ["ID"])), { name: "samples", columns: ["name"], rows: samples }];
  }
}

const flags = ["paired", "proper pair", "unmapped", "mate unmapped", "reverse", "mate reverse", "first", "second", "secondary", "failed quality checks", "duplicate", "supplementary"];

/** The flags of an alignment as text. */
export const flagWords = (flag: number) => flags.filter((_, bit) => flag & (1 << bit)).join(", ");

export const samColumns = ["name", "flag", "flags", "reference", "position", "mapping quality", "CIGAR", "mate reference", "mate position", "template length", "letters", "qualities", "tags"];

const samTables: [key: string, name: string][] = [["SQ", "references"], ["RG", "read groups"], ["PG", "programs"]];
const samKeys: Record<string, string> = { SN: "name", LN: "length", ID: "id", SM: "sample", PL: "platform", LB: "library", PN: "program", VN: "version", CL: "command line", SO: "sort order", PP: "previous" };

export function samHeaderTables(header: string[]): HeaderTable[] {
  return samTables.map(([key, name]) => {
    const rows = header.filter((l) => l.startsWith(`@${key}\t`)).map((l) => {
      const pairs = l.split("\t").slice(1).map((f): [string, string] => [samKeys[f.slice(0, 2)] ?? f.slice(0, 2), f.slice(3)]);
      return new Map(pairs);
    });
    return tableOf(name, rows, ["name", "id", "length"]);
  });
}

export function samAttributes(header: string[]): Attribute[] {
  return header.flatMap((line): Attribute[] => {
    if (line.startsWith("@CO")) return [["comment", line.slice(4)]];
    return line.startsWith("@HD") ? line.split("\t").slice(1).map((f) => [samKeys[f.slice(0, 2)] ?? f.slice(0, 2), f.slice(3)]) : [];
  });
}

export class Sam extends LineFormat {
  name = "SAM";
  records = "alignments";

  protected isHeader = (start: number) => this.text.bytes[start] === 64 && this.text.bytes[start + 3] === 9; // @XX and a tab
  columns = () => samColumns;
  attributes = () => samAttributes(this.header);
  protected headerTables = () => samHeaderTables(this.header);
  protected cells = ([name = "", flag = "", ...rest]: string[]) => [name, flag, flagWords(Number(flag)), ...rest.slice(0, 9), rest.slice(9).join(" ")];
}

const featureColumns: Record<string, string[]> = {
  GFF: ["sequence", "source", "type", "start", "end", "score", "strand", "phase", "attributes"],
  BED: ["chromosome", "start", "end", "name", "score", "strand", "thick start", "thick end", "colour", "blocks", "block sizes", "block starts"],
};

/** GFF, GTF and BED: sequence features. */
export class Features extends LineFormat {
  records = "features";

  constructor(readonly name: "GFF" | "BED") {
    super();
  }

  private width = 0;
  protected isHeader = (start: number) => {
    const { bytes } = this.text;
    return bytes[start] === 35 || /^(track|browser)\s/.test(textOf(bytes.subarray(start, start + 8)));
  };
  columns = () => {
    if (!this.count()) return featureColumns[this.name]!.slice(0, this.width || 3);
    this.width ||= Math.min(200, this.fields(0).length);
    return Array.from({ length: this.width }, (_, i) => featureColumns[this.name]![i] ?? `column ${i + 1}`);
  };
  protected cells = (fields: string[]) => fields;
  protected headerTables = () => [];
  attributes = (): Attribute[] => this.header.slice(0, 1000).map((line) => [/^(#+!?|track|browser)/.exec(line)?.[0] ?? "", line.replace(/^(#+!?|track|browser)\s*/, "")]);
  protected override fields = (i: number) => {
    const text = textOf(this.text.bytes.subarray(this.starts.at(i), Math.min(this.ends.at(i), this.starts.at(i) + maxLine)));
    return text.includes("\t") || this.name === "GFF" ? text.split("\t") : text.trim().split(/\s+/);
  };
  check() {
    const fields = this.count() ? this.fields(0) : [];
    if (this.count() && fields.length < 3) throw new Refused("Its first record has fewer than three fields.");
  }
}
