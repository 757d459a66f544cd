// PDB files: records of fixed columns. Models are found first, and read one at a time.
import type { Attribute } from "../../sight/messages";
import { numberOf } from "../../sight/elements";
import { Refused } from "../lib/serve";
import { Structure } from "./atoms";
import { edgesOf } from "./cell";
import type { Molecules } from "./frames";
import { linesOf, maxFrames, tooMany } from "./frames";

interface Header {
  attributes: Attribute[];
  title: string;
  cell: number[] | undefined;
  /** The ranges of the records of each model. */
  models: [start: number, end: number, name: string][];
  /** Pairs of serial numbers from CONECT. */
  joined: [string, string][];
}

const maxJoined = 500_000;

/** The element of an atom: from its own columns, or else from the columns of its name. */
function elementOf(line: string): string {
  const given = line.slice(76, 78).trim();
  if (numberOf(given)) return given;
  const name = line.slice(12, 16);
  const two = name.slice(0, 2).trim();
  if (two.length === 2 && /^[A-Za-z]+$/.test(two) && numberOf(two) && !/^H[A-Z]..$/.test(name)) return two;
  return /[A-Za-z]/.exec(name)?.[0] ?? "";
}

function addAtom(s: Structure, line: string): void {
  const number = (from: number) => Number(line.slice(from, from + 8).trim() || NaN);
  s.add({
    element: elementOf(line), at: [number(30), number(38), number(46)], name: line.slice(12, 16).trim(), residue: line.slice(17, 20).trim(),
    number: line.slice(22, 27).trim(), chain: line.slice(20, 22).trim(), alternative: line.slice(16, 17).trim(),
  });
}

const fields: Record<string, [name: string, from: number, to?: number]> = {
  "HEADER": ["classification", 10, 50], "EXPDTA": ["method", 10, 79], "TITLE ": ["title", 10, 80], "COMPND": ["compound", 10, 80], "AUTHOR": ["authors", 10, 79],
};

function headerOf(text: string): Header {
  const header: Header = { attributes: [], title: "", cell: undefined, models: [], joined: [] };
  const found = new Map<string, string>();
  let open: [number, string] | undefined;
  let [first, last] = [-1, 0];
  const close = (end: number) => open && header.models.push([open[0], end, open[1]]);
  for (const [line, start, end] of linesOf(text)) {
    const kind = line.slice(0, 6);
    const field = fields[kind];
    if (kind === "ATOM  " || kind === "HETATM") {
      if (first < 0) first = start;
      last = end;
    } else if (field) {
      const [name, from, to] = field;
      found.set(name, `${found.get(name) ?? ""} ${line.slice(from, to).trim()}`.slice(0, 2000));
      if (kind === "HEADER" && line.slice(62, 66).trim()) found.set("identifier", line.slice(62, 66));
    } else if (kind === "CRYST1") {
      cellOf(line, header, found);
    } else if (kind === "MODEL ") {
      close(start);
      open = [end, line.slice(6).trim()];
      if (header.models.length >= maxFrames) throw new Refused(tooMany);
    } else if (kind === "ENDMDL") {
      close(start);
      open = undefined;
    } else if (kind === "CONECT" && header.joined.length < maxJoined) {
      for (let at = 11; at < 31; at += 5) if (line.slice(at, at + 5).trim()) header.joined.push([line.slice(6, 11).trim(), line.slice(at, at + 5).trim()]);
    }
  }
  close(last);
  if (!header.models.length && first >= 0) header.models.push([first, last, ""]);
  header.title = found.get("title")?.trim() ?? "";
  header.attributes = [...found].map(([name, value]) => [name, value.trim()]);
  return header;
}

/** The unit cell of a crystal. A cell of 1 Å means no cell. */
function cellOf(line: string, header: Header, found: Map<string, string>): void {
  const values = [6, 15, 24, 33, 40, 47].map((at, i) => Number(line.slice(at, at + (i < 3 ? 9 : 7))));
  if (!values.every((v) => v > 0) || values[0] === 1) return;
  header.cell = edgesOf(values);
  found.set("cell", `a ${values[0]} Å, b ${values[1]} Å, c ${values[2]} Å, α ${values[3]}°, β ${values[4]}°, γ ${values[5]}°`);
  if (line.slice(55, 66).trim()) found.set("space group", line.slice(55, 66));
}

export function pdb(text: string): Molecules {
  const header = headerOf(text);
  if (!header.models.length) throw new Refused("It has no atoms: no line starts with ATOM or HETATM.");
  const read = (frame: number) => {
    const [start, end, name] = header.models[frame]!;
    const s = new Structure();
    const serials = new Map<string, number>();
    for (const [line] of linesOf(text, start, end)) {
      if (!line.startsWith("ATOM  ") && !line.startsWith("HETATM")) continue;
      const before = s.length;
      addAtom(s, line);
      if (header.joined.length && s.length > before) serials.set(line.slice(6, 11).trim(), before);
    }
    const seen = new Set<number>();
    for (const [from, to] of header.joined) {
      const [a, b] = [serials.get(from), serials.get(to)];
      if (a === undefined || b === undefined || a === b || seen.has(Math.min(a, b) * s.length + Math.max(a, b))) continue;
      seen.add(Math.min(a, b) * s.length + Math.max(a, b));
      s.bonds.push(a, b);
    }
    s.title = name && header.models.length > 1 ? `model ${name}` : "";
    s.cell = header.cell;
    return s;
  };
  return { about: "PDB", attributes: header.attributes, frames: header.models.length, frame: "model", read };
}
