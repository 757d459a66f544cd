// The interface of readers of text records, and their results.
import type { Attribute, Item, Letters, Part, Quality, Selection } from "../../sight/messages";
import type { Growing } from "../lib/growing";

/** The maximum number of kept records. */
export const maxRecords = 2_000_000;

export interface Format {
  /** Such as "FASTQ". */
  name: string;
  /** The noun for its records, such as "reads". */
  records: string;
  /** Continues at the position where it stopped; `last`: the text is complete. */
  scan(text: Growing, last: boolean): void;
  count(): number;
  /** The reason why reading stopped. */
  problem?: string;
  attributes(): Attribute[];
  items(): Item[];
  about(): string[];
  slice(selection: Selection): Part;
  letters?(record: number, from: number, count: number): Letters;
  quality?(): Quality | undefined;
}

/** A growing array of numbers, of which there can be millions. */
export class Numbers {
  private values = new Float64Array(1024);
  length = 0;

  push(value: number) {
    if (this.length === this.values.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }
  at = (i: number) => this.values[i]!;
}

const decoder = new TextDecoder();
const fatal = new TextDecoder("utf-8", { fatal: true });
const latin = new TextDecoder("latin1");

/** Bytes as UTF-8, or as Latin-1 if they are not valid UTF-8. */
export function textOf(bytes: Uint8Array): string {
  try {
    return fatal.decode(bytes);
  } catch {
    return bytes.length > 1 << 16 ? decoder.decode(bytes) : latin.decode(bytes);
  }
}

/** Calls `line` for each complete line after `from`, without its line end. Returns the start of the
    first incomplete line. */
export function eachLine(text: Growing, from: number, last: boolean, line: (start: number, end: number) => boolean | void): number {
  const { bytes, length } = text;
  for (let at = from; at < length; ) {
    let end = bytes.indexOf(10, at);
    if (end < 0 || end >= length) {
      if (!last) return at;
      end = length;
    }
    if (line(at, bytes[end - 1] === 13 && end > at ? end - 1 : end) === false) return Math.min(length, end + 1);
    at = end + 1;
  }
  return length;
}
