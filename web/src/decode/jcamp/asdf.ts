// Lines of numbers of JCAMP-DX: fixed or packed (AFFN, PAC), squeezed (SQZ), as differences (DIF), and repeated (DUP).
import { Refused } from "../lib/serve";

/** The maximum number of values of a file: a few characters can stand for many values. */
export const maxValues = 8_000_000;

/** The first digits with a sign, by letter. */
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

/** A line of fixed numbers only, in which exponents need no sign. */
const isFixed = (line: string) => /^[\s\d+\-.,;eE?]*$/.test(line) && /[\s,;]/.test(line.trim()) && !/(^|[\s,;])[eE]/.test(line);

/** The ordinates of one table, collected line by line. */
export class Ordinates {
  private values = new Float64Array(1024);
  count = 0;
  /** The number of lines whose first ordinate differs from the last ordinate of the previous line.
   */
  failedChecks = 0;
  /** Whether the last ordinate was a difference, so that the next line repeats it. */
  private checked = false;
  /** The base of the next difference. */
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

  /** Reads a line. Returns its abscissa, the last digit of the abscissa, and the index of the
      matching ordinate; undefined for a line without an ordinate. */
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
      // differences in this line start from this value, even if it does not continue the previous
      // line
      this.base = v;
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
      if (!digits) throw new Refused(`Expected a number, found ${JSON.stringify(text.slice(at, at + 10))}.`);
      at = found.lastIndex;
      const value = Number((letter?.digit ?? "") + digits[0]);
      if (letter?.kind === "repeat") this.repeat(last, value, add);
      else add(letter?.kind ?? "plain", value);
    }
    this.checked = last?.kind === "difference";
    return { x: Number(first[0]), digit: 10 ** -(/\.(\d*)/.exec(first[0])?.[1]?.length ?? 0), at: startsWithCheck ? begin - 1 : begin };
  }

  private repeat(last: { kind: string; value: number } | undefined, times: number, add: (kind: string, value: number) => void) {
    if (!last) throw new Refused("It repeats a value that does not exist.");
    if (times > this.budget.left) throw new Refused(`It has more than ${maxValues} values.`);
    for (let n = 1; n < times; n++) add(last.kind, last.value);
  }
}

/** Numbers between separators, such as pairs of x and y. Text between < and > is skipped. */
export function numbersOf(text: string, budget: { left: number }): number[] {
  const numbers: number[] = [];
  for (const one of text.replace(/<[^>]*>/g, " ").split(/[\s,;()]+/)) {
    if (one === "") continue;
    if (--budget.left < 0) throw new Refused(`It has more than ${maxValues} values.`);
    const v = one === "?" ? NaN : Number(one);
    if (Number.isNaN(v) && one !== "?") throw new Refused(`Expected a number, found ${JSON.stringify(one.slice(0, 10))}.`);
    numbers.push(v);
  }
  return numbers;
}
