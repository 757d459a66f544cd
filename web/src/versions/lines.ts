// Compares two texts line by line.
import { diffArrays } from "diff/libesm/diff/array.js";

/** A range of lines: indices, the second one exclusive. */
type Range = [from: number, to: number];

/** Lines that both texts have, or lines of one text that replace lines of the other, perhaps none.
 */
export interface Block {
  same: boolean;
  before: Range;
  after: Range;
}

/** The time limit of the search for common lines, in ms, because it blocks the page. */
const timeout = 300;

/** The lines of a text without line feeds. A line feed at the end does not begin another line. */
export const linesOf = (text: string): string[] => (text ? text.replace(/\n$/, "").split("\n") : []);

/** The blocks of two texts, in order. `complete` is false if the search took too long: then lines between the first and the last difference count as changed. */
export function compareLines(before: string[], after: string[]): { blocks: Block[]; complete: boolean } {
  const blocks: Block[] = [];
  let [i, j] = [0, 0]; // the lines before these are in blocks
  const change = (x: number, y: number) => (x > i || y > j) && blocks.push({ same: false, before: [i, x], after: [j, y] });
  const match = (x: number, y: number) => {
    change(x, y);
    const last = blocks.at(-1);
    if (last?.same) [last.before[1], last.after[1]] = [x + 1, y + 1];
    else blocks.push({ same: true, before: [x, x + 1], after: [y, y + 1] });
    [i, j] = [x + 1, y + 1];
  };

  while (i < before.length && i < after.length && before[i] === after[i]) match(i, i);
  let tail = 0;
  while (before.length - tail > i && after.length - tail > j && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const common = commonLines(before, after, i, tail);
  for (const [x, y] of common ?? []) match(x, y);
  for (; tail > 0; tail--) match(before.length - tail, after.length - tail);
  change(before.length, after.length);
  return { blocks, complete: !!common };
}

/** Pairs of equal lines, ascending, without the first `from` and the last `tail` lines; undefined
    if the search took too long. */
function commonLines(before: string[], after: string[], from: number, tail: number): Range[] | undefined {
  // Lines in only one of the texts match nothing. Without them, the search is fast even if a whole
  // column has changed.
  const candidates = (of: string[], other: string[]) => {
    const inOther = new Set(other.slice(from, other.length - tail));
    return Array.from({ length: of.length - tail - from }, (_, n) => from + n).filter((n) => inOther.has(of[n]!));
  };
  const [ofBefore, ofAfter] = [candidates(before, after), candidates(after, before)];
  const changes = diffArrays(ofBefore.map((n) => before[n]!), ofAfter.map((n) => after[n]!), { timeout });
  let [x, y] = [0, 0];
  return changes?.flatMap(({ added, removed, count }) => {
    const pairs = added || removed ? [] : Array.from({ length: count }, (_, n): Range => [ofBefore[x + n]!, ofAfter[y + n]!]);
    if (!added) x += count;
    if (!removed) y += count;
    return pairs;
  });
}

/** The part in which two lines differ, as ranges of their characters. */
export function differingPart(before: string, after: string): { before: Range; after: Range } {
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { before: [head, before.length - tail], after: [head, after.length - tail] };
}
