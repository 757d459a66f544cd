// FASTA and FASTQ: records of letters.
import type { Attribute, Item, Letters, Part, Quality, Selection } from "../../sight/messages";
import { grouped, partOfColumns, rowsAndColumns } from "../lib/cells";
import type { Growing } from "../lib/growing";
import { Refused } from "../lib/serve";
import { eachLine, type Format, maxRecords, Numbers, textOf } from "./format";

const [greater, at, plus, semicolon] = [62, 64, 43, 59];

/** Limits: positions with a mean quality, and the highest quality. */
const maxPositions = 1000;
const maxQuality = 93;

// 1: G, C, S; 2: A, T, U, W; 3: other nucleotide letters; 4: other letters; 0: not a letter
const classOf = new Uint8Array(256);
for (let i = 33; i < 127; i++) classOf[i] = 4;
for (const [letters, kind] of [["RYKMBDHVN-.", 3], ["ATUW", 2], ["GCS", 1]] as const) {
  for (const letter of letters + letters.toLowerCase()) classOf[letter.charCodeAt(0)] = kind;
}
const isN = (byte: number) => byte === 78 || byte === 110 || byte === 45 || byte === 46;

/** The position of a record in the text, and its counts. */
class Records {
  head = new Numbers();
  headEnd = new Numbers();
  start = new Numbers();
  end = new Numbers();
  letters = new Numbers();
  gc = new Numbers();
  known = new Numbers(); // G, C, S, A, T, U, W
  other = new Numbers(); // letters that are not nucleotides
  qualityStart = new Numbers();
  qualityEnd = new Numbers();
  mean = new Numbers();
}

const counts = () => ({ letters: 0, gc: 0, known: 0, other: 0, shown: 0 });

abstract class LetterFormat implements Format {
  abstract name: string;
  abstract records: string;
  problem?: string;
  protected readonly all = new Records();
  protected next = 0;
  protected text!: Growing;
  protected now = counts();
  protected total = { letters: 0, gc: 0, known: 0, other: 0, min: Infinity, max: 0 };

  abstract scan(text: Growing, last: boolean): void;

  count = () => this.all.letters.length;

  protected countLetters(start: number, end: number) {
    const { bytes } = this.text;
    const { now } = this;
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      const kind = classOf[byte]!;
      if (!kind) continue;
      now.letters++;
      if (kind === 1) now.gc++, now.known++;
      else if (kind === 2) now.known++;
      else if (kind === 4) now.other++;
      if (isN(byte)) now.shown++;
    }
  }

  protected finish() {
    const { all, now, total } = this;
    all.letters.push(now.letters);
    all.gc.push(now.gc);
    all.known.push(now.known);
    all.other.push(now.other);
    total.letters += now.letters;
    total.gc += now.gc;
    total.known += now.known;
    total.other += now.other;
    total.min = Math.min(total.min, now.letters);
    total.max = Math.max(total.max, now.letters);
    this.now = counts();
  }

  /** Whether a record has nucleotides: nearly all of its letters are nucleotide letters. */
  protected isNucleic = (i: number) => this.all.other.at(i) <= this.all.letters.at(i) * 0.02 && this.all.known.at(i) * 2 >= this.all.letters.at(i) * 0.5;

  protected title(i: number): [name: string, description: string] {
    const text = textOf(this.text.bytes.subarray(this.all.head.at(i) + 1, Math.min(this.all.headEnd.at(i), this.all.head.at(i) + 4000)));
    const [, name = "", description = ""] = /^\s*(\S*)\s*([^]*)$/.exec(text) ?? [];
    return [name, description];
  }

  about(): string[] {
    const { total } = this;
    const records = this.count();
    if (!records) return [];
    const nucleic = total.other <= total.letters * 0.02;
    return [
      `${grouped(total.letters)} ${nucleic ? "bases" : "letters"}`,
      ...(records === 1 ? [] : [total.min === total.max ? `each of ${grouped(total.min)}` : `of ${grouped(total.min)} to ${grouped(total.max)}, mean ${grouped(Math.round((10 * total.letters) / records) / 10)}`]),
      ...(nucleic && total.known ? [`GC ${percent(total.gc, total.known)}`] : []),
    ];
  }

  attributes = (): Attribute[] => [];

  protected columns = () => ["name", "length", "GC", "description"];

  items = (): Item[] => [{ name: this.records, about: "", id: 0, shape: [this.count(), this.columns().length], columns: this.columns() }];

  protected cell(i: number, column: number): string {
    const { all } = this;
    if (column === 0) return this.title(i)[0];
    if (column === 1) return String(all.letters.at(i));
    if (column !== 2) return this.title(i)[1];
    return this.isNucleic(i) && all.known.at(i) ? percent(all.gc.at(i), all.known.at(i)) : "";
  }

  slice(s: Selection): Part {
    const { from, to, columns, line } = rowsAndColumns(s, this.count(), this.columns().length);
    return partOfColumns(columns.map((c) => Array.from({ length: to - from }, (_, i) => this.cell(from + i, c))), line);
  }

  /** The letters of a range of bytes: `count` letters after the first `from`, without separators.
      */
  private visible(start: number, end: number, from: number, count: number): Uint8Array {
    const found = new Uint8Array(count);
    const { bytes } = this.text;
    let [seen, taken] = [0, 0];
    for (let i = start; i < end && taken < count; i++) {
      if (bytes[i]! <= 32 || bytes[i] === 127) continue;
      if (seen++ >= from) found[taken++] = bytes[i]!;
    }
    return found.subarray(0, taken);
  }

  protected offset = () => 33;

  letters(record: number, from: number, count: number): Letters {
    const { all } = this;
    if (!(record >= 0 && record < this.count())) throw new Refused("This record does not exist.");
    const [name, description] = this.title(record);
    const most = Math.min(count, 100_000);
    const letters = textOf(this.visible(all.start.at(record), all.end.at(record), from, most));
    const answer: Letters = { name, description, length: all.letters.at(record), from, letters, nucleic: this.isNucleic(record) };
    if (!all.qualityStart.length) return answer;
    const quality = this.visible(all.qualityStart.at(record), all.qualityEnd.at(record), from, most);
    return { ...answer, quality: Array.from(quality, (q) => q - this.offset()), mean: all.mean.at(record) };
  }
}

const percent = (part: number, of: number) => `${((100 * part) / of).toFixed(1)} %`;

export class Fasta extends LetterFormat {
  name = "FASTA";
  records = "sequences";
  private open = false;
  /** The counts without the part of the last, unfinished sequence that has been read. */
  private before: { now: ReturnType<typeof counts>; total: LetterFormat["total"] } | undefined;

  scan(text: Growing, last: boolean) {
    this.text = text;
    const { all } = this;
    this.withdraw();
    this.next = eachLine(text, this.next, last, (start, end) => {
      if (text.bytes[start] === greater) {
        this.close(start);
        if (this.count() >= maxRecords) {
          this.problem = `the first ${maxRecords} are shown`;
          return false;
        }
        all.head.push(start);
        all.headEnd.push(end);
        all.start.push(end);
        this.open = true;
      } else if (this.open) this.countLetters(start, end);
      else if (end > start && text.bytes[start] !== semicolon) throw new Refused("Its first record does not begin at the start of the file.");
      return undefined;
    });
    if (last || this.problem) this.close(this.next);
    else this.publish();
  }

  private close(end: number) {
    if (!this.open) return;
    this.open = false;
    this.all.end.push(end);
    this.finish();
  }

  /** Counts the unfinished sequence until more of it arrives. */
  private publish() {
    if (!this.open) return;
    this.before = { now: { ...this.now }, total: { ...this.total } };
    this.countLetters(this.next, this.text.length);
    if (!this.now.letters) {
      this.before = undefined;
      return;
    }
    this.all.end.push(this.text.length);
    this.finish();
  }

  private withdraw() {
    if (!this.before) return;
    const { letters, gc, known, other, end } = this.all;
    for (const numbers of [letters, gc, known, other, end]) numbers.length--;
    Object.assign(this, this.before);
    this.before = undefined;
  }

  unfinished = () => this.before !== undefined;
}

export class Fastq extends LetterFormat {
  name = "FASTQ";
  records = "reads";
  private readonly sums = new Float64Array(maxPositions);
  private readonly seen = new Float64Array(maxPositions);
  private readonly histogram = new Float64Array(256); // of sums of a read, by mean
  private lowest = 255;
  private highest = 0;
  private state: "head" | "letters" | "quality" = "head";
  private open = { head: 0, headEnd: 0, start: 0, end: 0, qualityStart: 0, qualityEnd: 0, qualities: 0, sum: 0 };

  protected override columns = () => ["name", "length", "GC", "mean quality", "description"];

  protected override cell(i: number, column: number): string {
    return column === 3 ? (this.all.letters.at(i) ? (this.all.mean.at(i) - this.offset()).toFixed(1) : "") : super.cell(i, column);
  }

  scan(text: Growing, last: boolean) {
    this.text = text;
    if (this.problem) return;
    this.next = eachLine(text, this.next, last, (start, end) => this.line(start, end));
    if (last && !this.problem && this.state !== "head") this.fail("is not complete");
  }

  private line(start: number, end: number): boolean {
    const { bytes } = this.text;
    const { open, now } = this;
    if (this.state === "head") {
      if (end === start) return true;
      if (bytes[start] !== at) return this.fail("does not begin with @");
      if (this.count() >= maxRecords) {
        this.problem = `the first ${maxRecords} are shown`;
        return false;
      }
      Object.assign(open, { head: start, headEnd: end, start: end, end, qualities: 0, sum: 0 });
      this.now = counts();
      this.state = "letters";
    } else if (this.state === "letters") {
      if (bytes[start] !== plus) {
        this.countLetters(start, end);
        open.end = end;
        return true;
      }
      Object.assign(open, { qualityStart: end, qualityEnd: end });
      this.state = now.letters ? "quality" : "head";
      if (!now.letters) this.complete();
    } else {
      this.countQuality(start, end);
      open.qualityEnd = end;
      if (open.qualities > now.letters) return this.fail(`has ${open.qualities} qualities for ${now.letters} letters`);
      if (open.qualities === now.letters) {
        this.complete();
        this.state = "head";
      } else if (end === start) return this.fail(`has ${open.qualities} qualities for ${now.letters} letters`);
    }
    return true;
  }

  private fail(why: string): false {
    const said = `record ${this.count() + 1} ${why}`;
    if (!this.count()) throw new Refused(`${said[0]!.toUpperCase()}${said.slice(1)}.`);
    this.problem = `${said}; the rest is not shown`;
    return false;
  }

  private countQuality(start: number, end: number) {
    const { bytes } = this.text;
    const { open, sums, seen } = this;
    for (let i = start; i < end; i++) {
      const q = bytes[i]!;
      if (q <= 32 || q === 127) continue;
      if (q < this.lowest) this.lowest = q;
      if (q > this.highest) this.highest = q;
      const position = open.qualities++;
      open.sum += q;
      if (position < maxPositions) {
        sums[position]! += q;
        seen[position]!++;
      }
    }
  }

  private complete() {
    const { all, open, now } = this;
    all.head.push(open.head);
    all.headEnd.push(open.headEnd);
    all.start.push(open.start);
    all.end.push(open.end);
    all.qualityStart.push(open.qualityStart);
    all.qualityEnd.push(open.qualityEnd);
    const mean = now.letters ? open.sum / now.letters : 0;
    all.mean.push(mean);
    if (now.letters) this.histogram[Math.round(mean)]!++;
    this.finish();
  }

  /** Qualities begin with "!", or with "@" for older Illumina machines. */
  protected override offset = () => (this.lowest >= 59 && this.highest > 75 ? 64 : 33);

  override letters(record: number, from: number, count: number): Letters {
    const answer = super.letters(record, from, count);
    return { ...answer, mean: answer.mean! - this.offset() };
  }

  override about(): string[] {
    return this.count() ? [...super.about(), `quality as Phred+${this.offset()}`] : [];
  }

  quality(): Quality | undefined {
    if (!this.count()) return undefined;
    const offset = this.offset();
    const positions = this.seen.findIndex((n) => n === 0);
    const length = positions < 0 ? maxPositions : positions;
    return {
      byPosition: Array.from({ length }, (_, i) => this.sums[i]! / this.seen[i]! - offset),
      histogram: Array.from({ length: maxQuality + 1 }, (_, q) => this.histogram[q + offset] ?? 0),
    };
  }
}
