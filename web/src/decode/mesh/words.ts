// Words of a text between blanks, read one at a time.
import { Refused } from "../lib/serve";

const newline = 10;

export class Scanner {
  private at = 0;
  private readonly text: string;

  constructor(bytes: Uint8Array) {
    this.text = new TextDecoder("latin1").decode(bytes);
  }

  /** The next word; empty at the end. */
  next(): string {
    const { text } = this;
    while (this.at < text.length && text.charCodeAt(this.at) <= 32) this.at++;
    const start = this.at;
    while (this.at < text.length && text.charCodeAt(this.at) > 32) this.at++;
    return text.slice(start, this.at);
  }

  /** The words of the next non-empty line; empty at the end. */
  words(): string[] {
    const { text } = this;
    while (this.at < text.length && text.charCodeAt(this.at) <= 32) this.at++;
    return this.line().split(/\s+/).filter(Boolean);
  }

  /** The rest of the line. */
  line(): string {
    const found = this.text.indexOf("\n", this.at);
    const end = found < 0 ? this.text.length : found;
    const rest = this.text.slice(this.at, end).trim();
    this.at = this.text.charCodeAt(end) === newline ? end + 1 : end;
    return rest;
  }

  number(): number {
    const word = this.next();
    const value = Number(word);
    if (!word || Number.isNaN(value)) throw new Refused(word ? `Expected a number, found “${word.slice(0, 40)}”.` : "It ends where a number is expected.");
    return value;
  }

  get ended(): boolean {
    return this.at >= this.text.length;
  }
}
