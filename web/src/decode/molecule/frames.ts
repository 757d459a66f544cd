// What the readers of structures give: models, of which one is read when it is looked at.
import type { Attribute } from "../../sight/messages";
import type { Structure } from "./atoms";

/** Models of one file. */
export const maxFrames = 200_000;
export const tooMany = `It has more than ${maxFrames.toLocaleString("en")} models.`;

export interface Molecules {
  about: string;
  attributes: Attribute[];
  frames: number;
  /** What one of them is called. */
  frame: string;
  read: (frame: number) => Structure;
  /** Several ways to read one, and which one is shown first; without them there is one. */
  forms?: Form[];
  form?: number;
}

/** What is read of a model: such as the atoms of the file, or all that the symmetry of a crystal makes of them. */
export interface Form {
  name: string;
  read: (frame: number) => Structure;
}

/** Lines without their ends, and where each starts and the next one does. */
export function* linesOf(text: string, from = 0, to = text.length): Generator<[line: string, start: number, next: number]> {
  for (let start = from; start < to; ) {
    const found = text.indexOf("\n", start);
    const next = found < 0 || found >= to ? to : found + 1;
    const end = next > start && text[next - 1] === "\n" ? next - 1 : next;
    yield [text.slice(start, end > start && text[end - 1] === "\r" ? end - 1 : end), start, next];
    start = next;
  }
}
