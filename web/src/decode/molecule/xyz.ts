// XYZ files: a number of atoms, a comment, and a line for each atom. Repeated frames are the steps
// of a simulation.
import type { Attribute } from "../../sight/messages";
import { elements, numberOf } from "../../sight/elements";
import { Refused } from "../lib/serve";
import { Structure } from "./atoms";
import { linesOf, maxFrames, type Molecules, tooMany } from "./frames";

/** The start of the comment of each frame, and the end of the frame. */
function framesOf(text: string): [start: number, end: number, atoms: number][] {
  const frames: [number, number, number][] = [];
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at) + 1;
    const line = text.slice(at, end).trim();
    if (!line) {
      at = end;
      continue;
    }
    const atoms = /^\d+$/.test(line) ? Number(line) : -1;
    if (atoms < 0) {
      if (frames.length) throw new Refused(`Model ${frames.length + 1} does not begin with a number of atoms.`);
      throw new Refused("Its first line is not a number of atoms.");
    }
    let next = end;
    for (let n = 0; n <= atoms; n++) {
      if (next >= text.length && n > 0) throw new Refused(`It ends before all ${atoms} atoms of model ${frames.length + 1}.`);
      next = text.indexOf("\n", next) < 0 ? text.length : text.indexOf("\n", next) + 1;
    }
    if (frames.length === maxFrames) throw new Refused(tooMany);
    frames.push([end, next, atoms]);
    at = next;
  }
  return frames;
}

/** Names and values of a comment such as Lattice="1 0 0 0 1 0 0 0 1" Properties=species:S:1:pos:R:3. */
function extended(comment: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, name, quoted, bare] of comment.matchAll(/([\w-]+)=(?:"([^"]*)"|([^\s"]+))/g)) found.set(name!.toLowerCase(), quoted ?? bare ?? "");
  return found;
}

/** The columns of the element and of x, according to the properties in a comment. */
function columnsOf(properties: string | undefined): [element: number, x: number] {
  const parts = (properties ?? "species:S:1:pos:R:3").split(":");
  let [column, element, x] = [0, 0, 1];
  for (let i = 0; i + 2 < parts.length; i += 3) {
    if (/^(species|element|z|numbers)$/i.test(parts[i]!)) element = column;
    if (/^pos(itions)?$/i.test(parts[i]!)) x = column;
    column += Number(parts[i + 2]) || 1;
  }
  return [element, x];
}

function readFrame(text: string, start: number, end: number): Structure {
  const s = new Structure();
  let columns: [number, number] | undefined;
  for (const [line] of linesOf(text, start, end)) {
    if (!columns) {
      const given = extended(line);
      columns = columnsOf(given.get("properties"));
      s.title = given.size ? "" : line.trim().slice(0, 200);
      s.facts = given.size ? [...given].slice(0, 100).map(([n, v]): Attribute => [n, v.slice(0, 2000)]) : line.trim() ? [["comment", line.trim()]] : [];
      const lattice = given.get("lattice")?.trim().split(/\s+/).map(Number);
      if (lattice?.length === 9 && lattice.every((n) => Math.abs(n) < 1e6) && lattice.some(Boolean)) s.cell = lattice;
      continue;
    }
    const words = line.trim().split(/\s+/);
    const [element, x] = columns;
    const number = words[element] ?? "";
    if (words.length < x + 3) throw new Refused(`A line of an atom has no coordinates: ${line.slice(0, 60)}`);
    const symbol = /^\d+$/.test(number) ? elements[Number(number)]?.symbol ?? number : number;
    s.add({ element: numberOf(symbol) ? symbol : symbol.slice(0, 8), at: [Number(words[x]), Number(words[x + 1]), Number(words[x + 2])] });
  }
  return s;
}

export function xyz(text: string): Molecules {
  const frames = framesOf(text);
  if (!frames.length) throw new Refused("It has no atoms.");
  return { about: "XYZ", attributes: [], frames: frames.length, frame: "model", read: (frame) => readFrame(text, frames[frame]![0], frames[frame]![1]) };
}
