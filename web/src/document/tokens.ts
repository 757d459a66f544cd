// Markdown with formulas: $…$, $$…$$, \(…\), \[…\] and environments of amsmath, as Jupyter and GitHub read them. Independent of the page.
import type { Token, TokenizerExtension } from "marked";
import { Marked } from "marked";

export interface Formula {
  type: "formula";
  raw: string;
  /** TeX. */
  source: string;
  /** It has a line of its own. */
  display: boolean;
}

const environment = /(\\begin\{((?:equation|align|gather|multline|eqnarray|alignat|split|cases|array|[a-zA-Z]*matrix)\*?)\}[^]+?\\end\{\2\})/.source;

/** Characters in which the end of a formula is looked for: an end that never comes costs no more. */
const reach = 5000;

const block = [
  /^ {0,3}\$\$((?:\\[^]|[^\\$])+?)\$\$[ \t]*(?:\n+|$)/,
  /^ {0,3}\\\[([^]+?)\\\][ \t]*(?:\n+|$)/,
  new RegExp(`^ {0,3}${environment}[ \\t]*(?:\\n+|$)`),
];

const inline: [RegExp, display: boolean][] = [
  [/^\$\$((?:\\[^]|[^\\$])+?)\$\$/, true],
  [/^\$`([^`$]+)`\$/, false],
  [/^\$(?![\s$])((?:\\[^]|[^\\$])*?[^\s\\$]|\\[^\s])\$(?!\d)/, false], // "$5 and $10" is none
  [/^\\\(([^]+?)\\\)/, false],
  [/^\\\[([^]+?)\\\]/, true],
  [/^\\\\\(([^]+?)\\\\\)/, false], // as Jupyter reads it
  [new RegExp(`^${environment}`), true],
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
  for (const [pattern, display] of patterns) {
    const found = pattern.exec(near);
    if (found && !/\n[ \t]*\n/.test(found[1]!.trim())) return { type: "formula", raw: found[0], source: found[1]!.trim(), display };
  }
  return undefined;
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

/** The name of a heading in addresses, as GitHub makes it. */
export const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
