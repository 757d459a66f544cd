// The bytes of an HDF5 file: its superblock, and a cursor for what is read from it.
import { type Input, Refused } from "../lib/serve";

/** The undefined address. */
export const nowhere = -1;

/** Reads numbers, addresses and texts in order. */
export class Cursor {
  at = 0;
  readonly view: DataView;

  constructor(
    readonly bytes: Uint8Array<ArrayBuffer>,
    private readonly file: { offsetSize: number; lengthSize: number },
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  skip(length: number): this {
    this.at += length;
    return this;
  }
  /** An unsigned number with this number of bytes. */
  uint(size: number): number {
    let value = 0;
    for (let i = size - 1; i >= 0; i--) value = value * 256 + this.view.getUint8(this.at + i);
    this.at += size;
    return value;
  }
  length = () => this.uint(this.file.lengthSize);
  address(): number {
    const size = this.file.offsetSize;
    const unset = this.bytes.subarray(this.at, this.at + size).every((b) => b === 255);
    const value = this.uint(size);
    return unset ? nowhere : value;
  }
  text(length: number): string {
    if (this.at + length > this.bytes.length) throw new RangeError("a text ends outside of its block");
    return new TextDecoder().decode(this.bytes.subarray((this.at += length) - length, this.at)).replace(/\0[^]*$/, "");
  }
  /** A zero-terminated text, padded to a multiple. */
  ended(multiple = 1): string {
    const end = this.bytes.indexOf(0, this.at);
    if (end < 0) throw new RangeError("a string is not terminated");
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, end));
    this.at += Math.ceil((end + 1 - this.at) / multiple) * multiple;
    return text;
  }
  take(length: number): Uint8Array<ArrayBuffer> {
    if (!(length >= 0) || this.at + length > this.bytes.length) throw new RangeError("a part ends outside of its block");
    return this.bytes.slice((this.at += length) - length, this.at);
  }
  /** Checks the four-character signature of a block. */
  expect(signature: string): this {
    if (this.text(4) !== signature) throw new Refused(`It seems to be broken: there is no ${signature} where it should be.`);
    return this;
  }
}

/** An HDF5 file; addresses count from its superblock. */
export class File {
  offsetSize = 8;
  lengthSize = 8;
  base = 0;
  root = 0;
  version = 0;
  /** The number of characters read from attributes. */
  attributeText = 0;

  constructor(private readonly input: Input) {}

  async read(address: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (address === nowhere) throw new Refused("It seems to be broken: it refers to nothing.");
    return this.input.read(this.base + address, length);
  }

  async cursor(address: number, length: number): Promise<Cursor> {
    return new Cursor(await this.read(address, length), this);
  }

  /** Finds the superblock, which can follow a user block. */
  async open(): Promise<this> {
    for (let at = 0; at < this.input.bytes; at = at ? at * 2 : 512) {
      const head = new Cursor(await this.input.read(at, 128), this);
      if (head.bytes.length < 48 || head.view.getUint32(0) !== 0x89484446) continue;
      this.base = at;
      this.superblock(head.skip(8));
      return this;
    }
    throw new Refused("It has no superblock.");
  }

  private superblock(c: Cursor) {
    this.version = c.uint(1);
    if (this.version > 3) throw new Refused(`Its superblock has version ${this.version}, which is not known.`);
    if (this.version >= 2) {
      [this.offsetSize, this.lengthSize] = [c.uint(1), c.uint(1)];
      c.skip(1 + 3 * this.offsetSize);
      this.root = c.address();
      return;
    }
    c.skip(4);
    [this.offsetSize, this.lengthSize] = [c.uint(1), c.uint(1)];
    c.skip(this.version === 0 ? 9 : 13).skip(4 * this.offsetSize);
    c.skip(this.offsetSize);
    this.root = c.address();
  }
}
