// Markdown with formulas: $…$, $$…$$, \(…\), \[…\] and amsmath environments, compatible with
// Jupyter and GitHub. Independent of the page.
import type { Token, TokenizerExtension } from "marked";
import { Marked } from "marked";

export interface Formula {
  type: "formula";
  raw: string;
  /** TeX. */
  source: string;
  /** Whether it is a separate block. */
  display: boolean;
}

const environment = /(\\begin\{((?:equation|align|gather|multline|eqnarray|alignat|split|cases|array|[a-zA-Z]*matrix)\*?)\}[^]+?\\end\{\2\})/.source;

/** The number of characters searched for the end of a formula, to bound the cost of an unclosed
    one. */
const reach = 5000;

const block = [
  /^ {0,3}\$\$((?:\\[^]|[^\\$])+?)\$\$[ \t]*(?:\n+|$)/,
  /^ {0,3}\\\[([^]+?)\\\][ \t]*(?:\n+|$)/,
  new RegExp(`^ {0,3}${environment}[ \\t]*(?:\\n+|$)`),
];

const inline: [RegExp, display: boolean][] = [
  [/^\$\$((?:\\[^]|[^\\$])+?)\$\$/, true],
  [/^\$`([^`$]+)`\$/, false],
  // "$5 and $10" is not a formula
  [/^\$(?![\s$])((?:\\[^]|[^\\$])*?[^\s\\$]|\\[^\s])\$(?!\d)/, false],
  [new RegExp(`^${environment}`), true],
];

const brackets: [open: string, close: string, display: boolean][] = [
  ["\\(", "\\)", false],
  ["\\[", "\\]", true],
  ["\\\\(", "\\\\)", false], // as Jupyter reads it
];

const extensions: TokenizerExtension[] = [
  {
    name: "formula",
    level: "block",
    tokenizer(src) {
      return /^ {0,3}(?:\$\$|\\\[|\\begin\{)/.test(src.slice(0, 12)) ? first(src, block.map((pattern) => [pattern, true])) : undefined;
    },
  },
  {
    name: "formula",
    level: "inline",
    start(src) {
      const at = src.slice(0, reach).search(/\$|\\\\?[([]|\\begin\{/);
      return at < 0 ? undefined : at;
    },
    tokenizer(src) {
      return /^(?:\$|\\\\?[([]|\\begin\{)/.test(src.slice(0, 8)) ? first(src, inline) : undefined;
    },
  },
];

function first(src: string, patterns: [RegExp, display: boolean][]): Formula | undefined {
  const near = src.slice(0, reach);
  for (const [open, close, display] of patterns === inline ? brackets : []) {
    const end = near.startsWith(open) ? near.indexOf(close, open.length) : -1;
    if (end > open.length) return formula(near.slice(0, end + close.length), near.slice(open.length, end), display);
  }
  for (const [pattern, display] of patterns) {
    const found = pattern.exec(near);
    if (found) return formula(found[0], found[1]!, display);
  }
  return undefined;
}

/** A formula; it contains no empty line. */
function formula(raw: string, text: string, display: boolean): Formula | undefined {
  const source = text.trim();
  return /\n[ \t]*\n/.test(source) ? undefined : { type: "formula", raw, source, display };
}

const marked = new Marked({ gfm: true, extensions });

/** The tokens of a text; undefined if its nesting exceeds the stack. */
export function documentTokens(text: string): Token[] | undefined {
  try {
    return marked.lexer(text);
  } catch {
    return undefined;
  }
}

/** The anchor of a heading, as on GitHub. */
export const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
