// The part of Markdown that our own documents use: headings, paragraphs, lists, code, tables. They are ours, so what is not known
// here is a plain paragraph, and never HTML.

export type Block =
  | { kind: "heading"; level: number; text: string; id: string }
  | { kind: "paragraph"; text: string }
  | { kind: "code"; text: string }
  | { kind: "list"; ordered: boolean; items: Block[][] }
  | { kind: "table"; head: string[]; rows: string[][] };

/** The name of a heading in addresses. */
export const slug = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

const heading = /^(#{1,4}) +(.*)$/;
const item = /^(\d+\.|[-*]) +/;
const indent = /^ {4}/;

/** Reads lines from the top down; each reader takes as many as are its own. */
class Lines {
  at = 0;
  constructor(readonly all: string[]) {}
  get now(): string | undefined {
    return this.all[this.at];
  }
  /** Takes lines as long as they are of one kind. */
  while(is: (line: string) => boolean): string[] {
    const from = this.at;
    while (this.now !== undefined && is(this.now)) this.at++;
    return this.all.slice(from, this.at);
  }
}

export function blocks(text: string): Block[] {
  const lines = new Lines(text.split("\n"));
  const found: Block[] = [];
  for (;;) {
    lines.while((line) => line.trim() === "");
    if (lines.now === undefined) return found;
    found.push(block(lines, lines.now));
  }
}

function block(lines: Lines, first: string): Block {
  const title = heading.exec(first);
  if (title) {
    lines.at++;
    return { kind: "heading", level: title[1]!.length, text: title[2]!, id: slug(title[2]!) };
  }
  if (first.startsWith("```")) return fenced(lines);
  if (indent.test(first)) return indented(lines);
  if (first.startsWith("|")) return table(lines);
  if (item.test(first)) return list(lines, /^\d/.test(first));
  const begins = (line: string) => line.trim() === "" || heading.test(line) || line.startsWith("```") || line.startsWith("|") || item.test(line);
  const text = [first];
  lines.at++;
  text.push(...lines.while((line) => !begins(line)));
  return { kind: "paragraph", text: text.join(" ") };
}

function fenced(lines: Lines): Block {
  lines.at++;
  const code = lines.while((line) => !line.startsWith("```"));
  lines.at++;
  return { kind: "code", text: code.join("\n") };
}

function indented(lines: Lines): Block {
  const code = lines.while((line) => indent.test(line) || line.trim() === "");
  return { kind: "code", text: code.map((line) => line.replace(indent, "")).join("\n").trimEnd() };
}

function table(lines: Lines): Block {
  const rows = lines.while((line) => line.startsWith("|")).map(cells);
  return { kind: "table", head: rows[0]!, rows: rows.slice(2) };
}

const cells = (line: string) =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim());

/** What an item goes on with is indented as far as its own text, so that blocks can be within items. */
function list(lines: Lines, ordered: boolean): Block {
  const items: Block[][] = [];
  for (;;) {
    const mark = lines.now === undefined ? null : item.exec(lines.now);
    if (!mark || /^\d/.test(mark[0]) !== ordered) return { kind: "list", ordered, items };
    const width = mark[0].length;
    const own = [lines.now!.slice(width)];
    lines.at++;
    const inside = (line: string) => line.startsWith(" ".repeat(width)) || line.trim() === "";
    own.push(...lines.while(inside).map((line) => line.slice(width)));
    items.push(blocks(own.join("\n")));
  }
}
