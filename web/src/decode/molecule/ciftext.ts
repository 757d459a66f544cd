// The text of CIF: words, quoted texts, and text fields between semicolons. Only the needed parts
// are kept.
import { Refused } from "../lib/serve";

/** The names to keep, in lower case, and the values of each. */
export class Block extends Map<string, string[]> {
  constructor(readonly name: string) {
    super();
  }
}

const kept = /^_(atom_site[._](?!aniso)|cell[._]|symmetry|space_group|entry\.id|struct\.title|exptl\.method|struct_keywords\.pdbx|chemical_(name|formula)|publ_section_title|database_code)/;

/** Unused columns of tables of atoms. */
const dropped = /^_atom_site[._](occupancy|b_iso|u_iso|adp|calc|refinement|site_symmetry|thermal|pdbx_formal|id$|auth_atom_id$|label_entity|label_seq|footnote|group_pdb)/;

/** The maximum number of kept values. */
const maxValues = 12_000_000;

const [newline, carriage, space, tab, hash, semicolon, quote, apostrophe] = [10, 13, 32, 9, 35, 59, 34, 39];
const isBlank = (code: number) => code === space || code === newline || code === tab || code === carriage;

class Words {
  private at = 0;
  private start = 0;
  private end = 0;
  /** Whether the word is quoted, and therefore neither a name nor a keyword. */
  quoted = false;

  constructor(private readonly text: string) {}

  /** Moves to the next word; false at the end. */
  next(): boolean {
    const { text } = this;
    for (;;) {
      while (this.at < text.length && isBlank(text.charCodeAt(this.at))) this.at++;
      if (text.charCodeAt(this.at) !== hash) break;
      this.at = this.after("\n", this.at);
    }
    if (this.at >= text.length) return false;
    const code = text.charCodeAt(this.at);
    const isLineStart = this.at === 0 || text.charCodeAt(this.at - 1) === newline;
    this.quoted = true;
    if (code === semicolon && isLineStart) this.block();
    else if (code === quote || code === apostrophe) this.quotation(code);
    else this.word();
    return true;
  }

  private after(what: string, from: number): number {
    const found = this.text.indexOf(what, from);
    return found < 0 ? this.text.length : found + what.length;
  }

  private block() {
    this.start = this.at + 1;
    this.at = this.after("\n;", this.at);
    this.end = Math.max(this.start, this.at - 2);
  }

  /** A quote ends only before a blank. */
  private quotation(code: number) {
    const { text } = this;
    this.start = this.at + 1;
    let at = this.start;
    while (at < text.length && text.charCodeAt(at) !== newline && !(text.charCodeAt(at) === code && (at + 1 === text.length || isBlank(text.charCodeAt(at + 1))))) at++;
    this.end = at;
    this.at = at + 1;
  }

  private word() {
    const { text } = this;
    this.quoted = false;
    this.start = this.at;
    while (this.at < text.length && !isBlank(text.charCodeAt(this.at))) this.at++;
    this.end = this.at;
  }

  value(): string {
    return this.text.slice(this.start, this.end);
  }

  get isName(): boolean {
    return !this.quoted && this.text.charCodeAt(this.start) === 95;
  }

  /** A keyword that ends a table: loop_, data_…, save_…, global_, stop_. */
  get isKeyword(): boolean {
    if (this.quoted || this.end - this.start < 5) return false;
    const code = this.text.charCodeAt(this.start) | 32;
    return (code === 108 || code === 100 || code === 115 || code === 103) && /^(loop_$|data_|save_|global_$|stop_$)/i.test(this.value());
  }
}

/** The blocks of a file with the kept values. */
export function blocksOf(text: string): Block[] {
  const words = new Words(text);
  const blocks: Block[] = [];
  let block = new Block("");
  let values = 0;
  let more = words.next();
  const table = () => {
    const columns: (string[] | undefined)[] = [];
    for (more = words.next(); more && words.isName; more = words.next()) columns.push(columnOf(block, words.value()));
    for (let n = 0; more && !words.isName && !words.isKeyword; n++, more = words.next()) {
      if (!columns.length) continue;
      const into = columns[n % columns.length];
      if (into && ++values > maxValues) throw new Refused("It has too many values.");
      into?.push(words.value());
    }
  };
  while (more) {
    if (words.isKeyword) {
      const word = words.value().toLowerCase();
      if (word === "loop_") {
        table();
        continue;
      }
      if (word.startsWith("data_")) blocks.push((block = new Block(words.value().slice(5))));
      more = words.next();
    } else if (words.isName) {
      const into = columnOf(block, words.value());
      more = words.next();
      if (!more || words.isName || words.isKeyword) continue;
      into?.push(words.value());
      more = words.next();
    } else {
      more = words.next();
    }
  }
  if (!blocks.length) throw new Refused("It has no data block: no line starts with data_.");
  return blocks;
}

function columnOf(block: Block, name: string): string[] | undefined {
  const lower = name.toLowerCase();
  if (!kept.test(lower) || dropped.test(lower)) return undefined;
  const column: string[] = [];
  block.set(lower, column);
  return column;
}
