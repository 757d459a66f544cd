// MOL files of the versions V2000 and V3000, and SDF, which combines many of them with properties.
import type { Attribute } from "../../sight/messages";
import { Refused } from "../lib/serve";
import { Structure } from "./atoms";
import { linesOf, maxFrames, type Molecules, tooMany } from "./frames";

const orders = ["", "single", "double", "triple", "aromatic", "single or double", "single or aromatic", "double or aromatic", "any", "coordinate", "hydrogen"];

class Reader {
  readonly s = new Structure();
  private counts = new Map<string, number>();

  constructor(private readonly lines: string[]) {
    this.s.hasBonds = true;
    this.s.title = lines[0]?.trim() ?? "";
  }

  /** Bonds refer to atoms by number, so no atom can be skipped. */
  private atom(element: string, at: [number, number, number]): void {
    const before = this.s.length;
    this.s.add({ element, at });
    if (this.s.length === before) throw new Refused("An atom has no position.");
  }

  private bond(order: number, a: number, b: number): void {
    const n = this.s.length;
    if (!(a >= 0 && b >= 0 && a < n && b < n)) throw new Refused("A bond refers to an atom that does not exist.");
    this.s.bonds.push(a, b);
    const name = orders[order] || "other";
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  read(): Structure {
    const counts = this.lines[3] ?? "";
    const end = counts.includes("V3000") ? this.v3000() : this.v2000(counts);
    const { s } = this;
    if (this.counts.size > 1) s.facts.push(["orders of bonds", [...this.counts].map(([name, n]) => `${n} ${name}`).join(", ")]);
    this.properties(end);
    if (s.length > 1 && s.at.every((v, i) => i % 3 < 2 || v === 0)) s.notes.push("It is a flat drawing: z is 0 for all atoms.");
    return s;
  }

  private v2000(counts: string): number {
    const [atoms, bonds] = [Number(counts.slice(0, 3)), Number(counts.slice(3, 6))];
    if (!/^[ \d]{3}[ \d]{3}/.test(counts) || !Number.isInteger(atoms + bonds)) throw new Refused("Its fourth line lacks the numbers of atoms and bonds.");
    if (this.lines.length < 4 + atoms + bonds) throw new Refused(`It ends before all ${atoms} atoms and ${bonds} bonds.`);
    for (const line of this.lines.slice(4, 4 + atoms)) {
      const number = (from: number) => Number(line.slice(from, from + 10).trim() || NaN);
      this.atom(line.slice(31, 34).trim(), [number(0), number(10), number(20)]);
    }
    for (const line of this.lines.slice(4 + atoms, 4 + atoms + bonds)) this.bond(Number(line.slice(6, 9)), Number(line.slice(0, 3)) - 1, Number(line.slice(3, 6)) - 1);
    return 4 + atoms + bonds;
  }

  /** V3000 lines begin with "M  V30 ". A line that ends with a dash continues in the next one. */
  private v3000(): number {
    const places = new Map<string, number>();
    let block = "";
    let at = 4;
    for (; at < this.lines.length && !this.lines[at]!.startsWith("M  END"); at++) {
      let line = this.lines[at]!.slice(7);
      while (line.endsWith("-") && at + 1 < this.lines.length) line = line.slice(0, -1) + this.lines[++at]!.slice(7);
      const words = line.trim().split(/\s+/);
      if (words[0] === "BEGIN") block = words[1] ?? "";
      else if (words[0] === "END") block = "";
      else if (block === "ATOM") {
        places.set(words[0]!, this.s.length);
        this.atom(words[1] ?? "", [Number(words[2]), Number(words[3]), Number(words[4])]);
      } else if (block === "BOND") this.bond(Number(words[1]), places.get(words[2]!) ?? -1, places.get(words[3]!) ?? -1);
    }
    if (!places.size && at >= this.lines.length) throw new Refused("It ends before its atoms.");
    return at;
  }

  /** SDF properties: "> <name>", lines of a value, and an empty line. */
  private properties(from: number): void {
    for (let at = from; at < this.lines.length && this.s.facts.length < 200; at++) {
      const [, name] = /^>.*<([^>]*)>/.exec(this.lines[at]!) ?? [];
      if (name === undefined) continue;
      const value = [];
      while (this.lines[at + 1]) value.push(this.lines[++at]!);
      this.s.facts.push([name, value.join("\n").slice(0, 2000)] satisfies Attribute);
    }
  }
}

export function mol(text: string): Molecules {
  const starts: [number, number][] = [];
  let begin = 0;
  for (let at = text.indexOf("$$$$"); at >= 0; at = text.indexOf("$$$$", at + 4)) {
    if (at > 0 && text[at - 1] !== "\n") continue;
    if (starts.length === maxFrames) throw new Refused(tooMany);
    starts.push([begin, at]);
    begin = text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at) + 1;
  }
  if (!starts.length || text.slice(begin).trim()) starts.push([begin, text.length]);
  const read = (frame: number) => new Reader([...linesOf(text, ...starts[frame]!)].map(([line]) => line)).read();
  return { about: starts.length > 1 ? "SDF" : "MOL", attributes: [], frames: starts.length, frame: "molecule", read };
}
