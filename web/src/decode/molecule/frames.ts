// The result of the readers of structures: models, which are read on demand.
import type { Attribute } from "../../sight/messages";
import type { Structure } from "./atoms";

/** The maximum number of models of one file. */
export const maxFrames = 200_000;
export const tooMany = `It has more than ${maxFrames.toLocaleString("en")} models.`;

export interface Molecules {
  about: string;
  attributes: Attribute[];
  frames: number;
  /** The noun for one of them. */
  frame: string;
  read: (frame: number) => Structure;
  /** The ways to read a model, and the default; absent if there is only one. */
  forms?: Form[];
  form?: number;
}

/** A way to read a model: the atoms in the file, or all symmetry images of a crystal. */
export interface Form {
  name: string;
  read: (frame: number) => Structure;
}

/** Lines without their ends, with the start of each and of the next. */
export function* linesOf(text: string, from = 0, to = text.length): Generator<[line: string, start: number, next: number]> {
  for (let start = from; start < to; ) {
    const found = text.indexOf("\n", start);
    const next = found < 0 || found >= to ? to : found + 1;
    const end = next > start && text[next - 1] === "\n" ? next - 1 : next;
    yield [text.slice(start, end > start && text[end - 1] === "\r" ? end - 1 : end), start, next];
    start = next;
  }
}
