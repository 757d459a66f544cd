// Lines of numbers of JCAMP-DX: fixed or packed (AFFN, PAC), squeezed (SQZ), as differences (DIF), and repeated (DUP).
import { Refused } from "../lib/serve";

/** Values that a file may have in all: a few characters can stand for many of them. */
export const maxValues = 8_000_000;

/** The first digits with a sign, by their letters. */
const leading = new Map<string, { kind: "squeezed" | "difference" | "repeat"; digit: string }>();
const define = (letters: string, kind: "squeezed" | "difference" | "repeat", digits: string[]) =>
  [...letters].forEach((letter, i) => leading.set(letter, { kind, digit: digits[i]! }));
const upTo9 = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
define("@ABCDEFGHI", "squeezed", ["0", ...upTo9]);
define("abcdefghi", "squeezed", upTo9.map((d) => `-${d}`));
define("%JKLMNOPQR", "difference", ["0", ...upTo9]);
define("jklmnopqr", "difference", upTo9.map((d) => `-${d}`));
define("STUVWXYZs", "repeat", upTo9);

const plainNumber = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[Ee][+-]\d+)?/y;
const fixedNumber = /[+-]?(?:\d+\.?\d*|\.\d+)(?:[Ee][+-]?\d+)?/y;
const separators = /[\s,;]*/y;
const rest = /\d*(?:\.\d*)?/y;

/** A line of fixed numbers only, of which an exponent needs no sign. */
const isFixed = (line: string) => /^[\s\d+\-.,;eE?]*$/.test(line) && /[\s,;]/.test(line.trim()) && !/(^|[\s,;])[eE]/.test(line);

/** The ordinates of one table, gathered line by line. */
export class Ordinates {
  private values = new Float64Array(1024);
  count = 0;
  /** Lines whose first ordinate is not the last one of the line before, where it should be. */
  failedChecks = 0;
  /** The last ordinate was a difference, so that the next line begins with it again. */
  private checked = false;
  /** What the next difference is added to. */
  private base = 0;

  /** @param budget counts the values of the whole file */
  constructor(private readonly budget: { left: number }) {}

  get all(): Float64Array {
    return this.values.slice(0, this.count);
  }

  private push(v: number) {
    if (--this.budget.left < 0) throw new Refused(`It has more than ${maxValues} values.`);
    if (this.count === this.values.length) {
      const longer = new Float64Array(2 * this.count);
      longer.set(this.values);
      this.values = longer;
    }
    this.values[this.count++] = v;
  }

  /** Reads a line, and returns its abscissa, its last digit, and the number of the ordinate that belongs to it; undefined for a line without one. */
  line(text: string): { x: number; digit: number; at: number } | undefined {
    const pattern = isFixed(text) ? fixedNumber : plainNumber;
    const skip = (from: number) => {
      separators.lastIndex = from;
      return from + separators.exec(text)![0].length;
    };
    let at = skip(0);
    pattern.lastIndex = at;
    const first = pattern.exec(text);
    if (!first) return undefined;
    at = pattern.lastIndex;
    const startsWithCheck = this.checked;
    const begin = this.count;
    let last: { kind: string; value: number } | undefined;
    const add = (kind: string, value: number) => {
      const isCheck = kind !== "difference" && !last && startsWithCheck;
      const v = kind === "difference" ? this.base + value : value;
      this.base = v; // differences of this line follow what it says in full, also where that does not continue the line before
      if (!isCheck) this.push(v);
      else if (Math.abs(v - this.values[this.count - 1]!) > 1) this.failedChecks++;
      last = { kind, value };
    };
    while ((at = skip(at)) < text.length) {
      const letter = leading.get(text[at]!);
      if (text[at] === "?") {
        add("plain", NaN);
        at++;
        continue;
      }
      const found = letter ? rest : pattern;
      found.lastIndex = letter ? at + 1 : at;
      const digits = found.exec(text);
      if (!digits) throw new Refused(`There is no number where ${JSON.stringify(text.slice(at, at + 10))} is.`);
      at = found.lastIndex;
      const value = Number((letter?.digit ?? "") + digits[0]);
      if (letter?.kind === "repeat") this.repeat(last, value, add);
      else add(letter?.kind ?? "plain", value);
    }
    this.checked = last?.kind === "difference";
    return { x: Number(first[0]), digit: 10 ** -(/\.(\d*)/.exec(first[0])?.[1]?.length ?? 0), at: startsWithCheck ? begin - 1 : begin };
  }

  private repeat(last: { kind: string; value: number } | undefined, times: number, add: (kind: string, value: number) => void) {
    if (!last) throw new Refused("It repeats a value that is not there.");
    if (times > this.budget.left) throw new Refused(`It has more than ${maxValues} values.`);
    for (let n = 1; n < times; n++) add(last.kind, last.value);
  }
}

/** Numbers between separators, such as pairs of x and y. What stands between < and > is text, and left out. */
export function numbersOf(text: string, budget: { left: number }): number[] {
  const numbers: number[] = [];
  for (const one of text.replace(/<[^>]*>/g, " ").split(/[\s,;()]+/)) {
    if (one === "") continue;
    if (--budget.left < 0) throw new Refused(`It has more than ${maxValues} values.`);
    const v = one === "?" ? NaN : Number(one);
    if (Number.isNaN(v) && one !== "?") throw new Refused(`There is no number where ${JSON.stringify(one.slice(0, 10))} is.`);
    numbers.push(v);
  }
  return numbers;
}
