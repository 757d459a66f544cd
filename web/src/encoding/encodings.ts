// Text encodings and their decoders. This module is independent of the page.

/** An encoding: its label in the WHATWG standard, its common name, and its languages. */
export interface Encoding {
  label: string;
  name: string;
  languages: string;
  /** The size of its code unit in bytes. */
  unit: 1 | 2 | 4;
}

const of = (label: string, name: string, languages: string, unit: Encoding["unit"] = 1): Encoding => ({ label, name, languages, unit });

/** In the order of the encoding menu. */
export const encodings: readonly Encoding[] = [
  of("utf-8", "UTF-8", "all languages"),
  of("utf-16le", "UTF-16LE", "all languages", 2),
  of("utf-16be", "UTF-16BE", "all languages", 2),
  of("utf-32le", "UTF-32LE", "all languages", 4),
  of("utf-32be", "UTF-32BE", "all languages", 4),
  of("windows-1252", "Latin-1", "Western European"),
  of("macintosh", "Mac Roman", "Western European"),
  of("windows-1250", "Windows-1250", "Central European"),
  of("iso-8859-2", "ISO-8859-2", "Central European"),
  of("windows-1257", "Windows-1257", "Baltic"),
  of("windows-1251", "Windows-1251", "Cyrillic"),
  of("koi8-r", "KOI8-R", "Russian"),
  of("koi8-u", "KOI8-U", "Ukrainian"),
  of("iso-8859-5", "ISO-8859-5", "Cyrillic"),
  of("ibm866", "IBM866", "Cyrillic"),
  of("x-mac-cyrillic", "Mac Cyrillic", "Cyrillic"),
  of("windows-1253", "Windows-1253", "Greek"),
  of("iso-8859-7", "ISO-8859-7", "Greek"),
  of("windows-1254", "Windows-1254", "Turkish"),
  of("windows-1255", "Windows-1255", "Hebrew"),
  of("windows-1256", "Windows-1256", "Arabic"),
  of("iso-8859-6", "ISO-8859-6", "Arabic"),
  of("windows-874", "Windows-874", "Thai"),
  of("windows-1258", "Windows-1258", "Vietnamese"),
  of("shift_jis", "Shift-JIS", "Japanese"),
  of("euc-jp", "EUC-JP", "Japanese"),
  of("iso-2022-jp", "ISO-2022-JP", "Japanese"),
  of("euc-kr", "EUC-KR", "Korean"),
  of("gb18030", "GB18030", "Chinese, simplified"),
  of("big5", "Big5", "Chinese, traditional"),
];

const utf8 = encodings[0]!;

export const encodingOf = (label: string): Encoding | undefined => encodings.find((e) => e.label === label);

/** The name of an encoding, or its label if it is unknown. */
export const nameOf = (label: string): string => encodingOf(label)?.name ?? label;

/** Decodes chunks in order, like a TextDecoder. */
export interface StreamDecoder {
  decode(chunk: Uint8Array, options?: { stream?: boolean }): string;
}

/** UTF-32, which browsers do not decode. */
class UTF32 implements StreamDecoder {
  private rest = new Uint8Array(0);
  private started = false;

  constructor(private readonly little: boolean) {}

  decode(chunk: Uint8Array, { stream = false } = {}): string {
    const bytes = new Uint8Array(this.rest.length + chunk.length);
    bytes.set(this.rest);
    bytes.set(chunk, this.rest.length);
    const view = new DataView(bytes.buffer);
    const parts: string[] = [];
    let at = 0;
    for (; at + 4 <= bytes.length; at += 4) {
      const code = view.getUint32(at, this.little);
      const valid = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
      if (this.started || code !== 0xfeff) parts.push(valid ? String.fromCodePoint(code) : "\ufffd");
      this.started = true;
    }
    this.rest = bytes.slice(at);
    if (!stream && this.rest.length) parts.push("\ufffd");
    return parts.join("");
  }
}

/** A decoder of an encoding. Invalid bytes become replacement characters, or with `fatal` an
    error. */
export function decoderOf(label: string, options: TextDecoderOptions = {}): StreamDecoder {
  return encodingOf(label)?.unit === 4 ? new UTF32(label === "utf-32le") : new TextDecoder(label, options);
}

/** The encoding that the byte order mark at the start of a file names. */
export function markedEncoding(head: Uint8Array): Encoding | undefined {
  const starts = (...bytes: number[]) => bytes.every((b, i) => head[i] === b);
  const label = starts(0xff, 0xfe, 0, 0) ? "utf-32le" : starts(0, 0, 0xfe, 0xff) ? "utf-32be" : starts(0xff, 0xfe) ? "utf-16le" : starts(0xfe, 0xff) ? "utf-16be" : "";
  return starts(0xef, 0xbb, 0xbf) ? utf8 : encodingOf(label);
}

/** Whether ASCII bytes contain the escape sequences of ISO-2022-JP for Japanese characters. */
export const isISO2022JP = (bytes: Uint8Array): boolean => {
  for (let at = bytes.indexOf(0x1b); at >= 0; at = bytes.indexOf(0x1b, at + 1)) {
    if (bytes[at + 1] === 0x24 && (bytes[at + 2] === 0x40 || bytes[at + 2] === 0x42)) return true;
    if (bytes[at + 1] === 0x28 && bytes[at + 2] === 0x49) return true;
  }
  return false;
};
