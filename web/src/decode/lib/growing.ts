// The text of a file as it is read from the start; gzip and bgzip are unpacked.
import { crc32, gunzip, inflate } from "./inflate";
import { concat, type Input, maxBytes, MiB, Refused } from "./serve";

/** The maximum size of the text in memory, in bytes. */
const maxHeld = 128 * MiB;

/** The number of bytes unpacked at a time. Deflate can expand them a thousandfold. */
const slice = 32 << 10;

export class Growing {
  private held = new Uint8Array(64 << 10);
  length = 0;
  /** Bytes of the file that were read. */
  read = 0;
  /** The reason why reading stopped before the end of the file. */
  stopped = "";
  private unpacker: Unpacker | undefined;

  constructor(private readonly input: Input) {}

  get bytes() {
    return this.held;
  }
  get ended() {
    return this.stopped !== "" || this.read >= this.input.bytes;
  }

  /** Reads more bytes of the file. */
  async more(bytes: number) {
    const packed = await this.input.read(this.read, Math.min(bytes, maxBytes));
    if (!this.read && packed[0] === 0x1f && packed[1] === 0x8b) this.unpacker = isBlocked(packed) ? new Blocks() : new Stream();
    this.read += packed.length;
    if (!this.unpacker) return this.append(packed);
    try {
      await this.unpacker.push(packed, this.read >= this.input.bytes, (part) => this.append(part));
    } catch (thrown) {
      if (this.stopped) return;
      if (thrown instanceof Joined) return this.whole();
      this.stopped = "a compressed part of the file is damaged, or was cut off";
      if (!this.length) throw new Refused("A compressed part of the file is damaged.");
    }
  }

  private append(part: Uint8Array) {
    if (this.stopped) return;
    if (this.length + part.length > maxHeld) {
      part = part.subarray(0, maxHeld - this.length);
      this.stopped = `only the first ${maxHeld / MiB} MiB of text are shown`;
    }
    if (this.length + part.length > this.held.length) {
      const larger = new Uint8Array(Math.min(maxHeld, Math.max(2 * this.held.length, this.length + part.length)));
      larger.set(this.held.subarray(0, this.length));
      this.held = larger;
    }
    this.held.set(part, this.length);
    this.length += part.length;
    if (this.stopped) throw new Refused(this.stopped);
  }

  /** Browsers unpack only the first gzip member. To find the others, the file is read as a whole.
   */
  private async whole() {
    if (this.input.bytes > maxBytes) {
      this.stopped = `it has several gzip members; only the first is shown in files of more than ${maxBytes / MiB} MiB`;
      return;
    }
    const { bytes, complete } = await gunzip(await this.input.read(0, this.input.bytes), maxHeld);
    this.read = this.input.bytes;
    this.held = bytes;
    this.length = bytes.length;
    if (!complete) this.stopped = "a compressed part of the file is damaged, was cut off, or unpacks to too much";
  }
}

interface Unpacker {
  push(packed: Uint8Array<ArrayBuffer>, last: boolean, unpacked: (part: Uint8Array) => void): Promise<void>;
}

/** Whether a gzip member has ended and more data follows. */
class Joined extends Error {}

/** One member of gzip, unpacked by the browser as it arrives. */
class Stream implements Unpacker {
  private readonly stream = new DecompressionStream("gzip");
  private readonly writer = this.stream.writable.getWriter();
  private pump: Promise<void> | undefined;

  async push(packed: Uint8Array<ArrayBuffer>, last: boolean, unpacked: (part: Uint8Array) => void) {
    this.pump ??= this.drain(unpacked);
    this.pump.catch(() => {}); // handled below
    // Without a reader a write blocks, so it would never end after reading has failed.
    const write = (part: Promise<void>) => Promise.race([part, this.pump!]);
    try {
      for (let at = 0; at < packed.length; at += slice) await write(this.writer.write(packed.subarray(at, at + slice)));
      if (last) await write(this.writer.close());
      if (last) await this.pump;
    } catch (thrown) {
      this.writer.abort().catch(() => {});
      throw /trailing|junk|additional/i.test(String(thrown)) ? new Joined() : thrown;
    }
  }

  private async drain(unpacked: (part: Uint8Array) => void) {
    const reader = this.stream.readable.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) unpacked(part.value);
  }
}

const magic = (bytes: Uint8Array, at: number) => bytes[at] === 0x1f && bytes[at + 1] === 0x8b;

/** Whether a file is bgzip: small blocks that contain their length. */
const isBlocked = (bytes: Uint8Array) => bytes[3] === 4 && bytes[10] === 6 && bytes[12] === 66 && bytes[13] === 67;

/** Blocks of bgzip. */
class Blocks implements Unpacker {
  private rest = new Uint8Array(0);

  async push(packed: Uint8Array<ArrayBuffer>, last: boolean, unpacked: (part: Uint8Array) => void) {
    const bytes = concat([this.rest, packed]);
    const view = new DataView(bytes.buffer);
    let at = 0;
    while (at + 18 <= bytes.length) {
      if (!magic(bytes, at)) throw new Refused("A compressed part of the file is damaged.");
      if (!isBlocked(bytes.subarray(at))) throw new Joined();
      const end = at + view.getUint16(at + 16, true) + 1;
      if (end > bytes.length) break;
      if (end < at + 26) throw new Refused("A compressed part of the file is damaged.");
      const length = view.getUint32(end - 4, true);
      const part = length ? await inflate(bytes.subarray(at + 18, end - 8), "deflate-raw", Math.min(length, 1 << 16)) : new Uint8Array(0);
      if (part.length !== length || crc32(part) !== view.getUint32(end - 8, true)) throw new Refused("A compressed part of the file is damaged.");
      unpacked(part);
      at = end;
    }
    this.rest = bytes.slice(at);
    if (last && this.rest.length) throw new Refused("It was cut off.");
  }
}
