// The labels and blocks of a JCAMP-DX file.
import type { Attribute } from "../../sight/messages";
import { Refused } from "../lib/serve";

/** A labelled record: its label as written, its normalised label, and its text with all lines. */
export interface Label {
  name: string;
  key: string;
  text: string;
}

export interface Block {
  labels: Label[];
  blocks: Block[];
}

const maxBlocks = 1000;
const maxDepth = 20;

const keyOf = (name: string) => name.toUpperCase().replace(/[\s\-/_]/g, "");

/** All records of a text. Comments begin with $$. */
function labelsOf(text: string): Label[] {
  const labels: Label[] = [];
  let lines: string[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const bare = line.replace(/\$\$.*$/, "");
    const [, name, value] = /^\s*##([^=]*)=(.*)$/.exec(bare) ?? [];
    if (name !== undefined) {
      if (labels.length) labels.at(-1)!.text = lines.join("\n");
      labels.push({ name: name.trim(), key: keyOf(name), text: "" });
      lines = [value!];
    } else if (labels.length) lines.push(bare);
  }
  if (labels.length) labels.at(-1)!.text = lines.join("\n");
  return labels;
}

/** The blocks of a file: a title begins a block, and the label END ends it. */
export function blocksOf(text: string): Block[] {
  const root: Block = { labels: [], blocks: [] };
  const open = [root];
  let count = 0;
  for (const label of labelsOf(text)) {
    if (label.key === "TITLE") {
      if (++count > maxBlocks || open.length > maxDepth) throw new Refused(`It has more than ${maxBlocks} blocks, or nests them too deeply.`);
      const block: Block = { labels: [label], blocks: [] };
      open.at(-1)!.blocks.push(block);
      open.push(block);
    } else if (label.key === "END") {
      if (open.length > 1) open.pop();
    } else open.at(-1)!.labels.push(label);
  }
  return root.blocks;
}

/** The first text of a label, without spaces around it. */
export const textOf = (block: Block, key: string) => block.labels.find((l) => l.key === key)?.text.trim();

/** The number of a label; undefined without one. */
export function numberOf(block: Block, key: string): number | undefined {
  const text = textOf(block, key);
  const n = text ? Number(text.split(/[\s,]/)[0]) : NaN;
  return Number.isFinite(n) ? n : undefined;
}

/** The maximum number of displayed characters of a text. */
const maxText = 4000;

export const attributesOf = (block: Block, without: RegExp): Attribute[] =>
  block.labels.filter((l) => !without.test(l.key) && l.text.trim()).map((l) => [l.name, l.text.trim().slice(0, maxText)]);
