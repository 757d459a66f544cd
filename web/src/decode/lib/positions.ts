// The text of a part of a table with positions in bytes or code units, for any encoding.
import { encodingOf } from "../../encoding/encodings";

/** Returns the number of bytes of a character from its first two bytes. */
type Lengths = (lead: number, next: number) => number;

const lengths: Record<string, Lengths> = {
  shift_jis: (b) => ((b >= 0x81 && b <= 0x9f) || (b >= 0xe0 && b <= 0xfc) ? 2 : 1),
  big5: (b) => (b >= 0x81 && b <= 0xfe ? 2 : 1),
  gb18030: (b, next) => (b < 0x81 || b > 0xfe ? 1 : next >= 0x30 && next <= 0x39 ? 4 : 2),
};

/** Bytes of characters without meaning in a table. */
const filler = 0xff;

/** Decodes chunks so that each unit of the encoding becomes one character. Numbers, separators
    and line ends are correct; other characters only keep their count. */
export class Positions {
  readonly unit: number;
  private readonly decoder: TextDecoder;
  /** The number of pending bytes of a character that began in the previous chunk. */
  private open = 0;
  private lead = 0;
  /** In ISO-2022-JP: inside two-byte characters. */
  private shifted = false;

  constructor(private readonly encoding: string) {
    this.unit = encodingOf(encoding)?.unit ?? 1;
    this.decoder = new TextDecoder(this.unit === 2 ? encoding : "latin1", { ignoreBOM: true });
  }

  decode(bytes: Uint8Array): string {
    if (this.unit === 4) return this.wide(bytes);
    if (this.encoding === "iso-2022-jp") return this.decoder.decode(this.escaped(bytes));
    const lengthOf = lengths[this.encoding];
    return this.decoder.decode(lengthOf ? this.masked(bytes, lengthOf) : bytes);
  }

  /** Whether second bytes can look like separators. */
  private masked(bytes: Uint8Array, lengthOf: Lengths): Uint8Array {
    const out = bytes.slice();
    for (let i = 0; i < out.length; i++) {
      const byte = bytes[i]!;
      if (byte === 10) this.open = this.lead = 0; // never within a character
      else if (this.lead) {
        this.open = lengthOf(this.lead, byte) - 2;
        this.lead = 0;
        out[i] = filler;
      } else if (this.open > 0) {
        this.open--;
        out[i] = filler;
      } else if (lengthOf(byte, 0) > 1) this.lead = byte;
    }
    return out;
  }

  private escaped(bytes: Uint8Array): Uint8Array {
    const out = bytes.slice();
    for (let i = 0; i < out.length; i++) {
      if (bytes[i] === 0x1b) {
        this.shifted = bytes[i + 1] === 0x24 || bytes[i + 2] === 0x49;
        out.fill(filler, i, i + 3);
        i += 2;
      } else if (bytes[i] === 10) this.shifted = false;
      else if (this.shifted) out[i] = filler;
    }
    return out;
  }

  private wide(bytes: Uint8Array): string {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength & ~3);
    const parts: string[] = [];
    for (let at = 0; at < view.byteLength; at += 8192) {
      const units = Array.from({ length: Math.min(2048, (view.byteLength - at) / 4) }, (_, i) => Math.min(0xffff, view.getUint32(at + 4 * i, this.encoding === "utf-32le")));
      parts.push(String.fromCharCode(...units));
    }
    return parts.join("");
  }
}
