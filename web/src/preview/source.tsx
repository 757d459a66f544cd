// Reads the bytes of a file, chunk by chunk, and decodes them as text.
import { useEffect, useRef, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { download, Problem, range } from "../api";
import { decoderOf, encodingOf, isISO2022JP, markedEncoding, nameOf, type StreamDecoder } from "../encoding/encodings";
import { size } from "../format";
import { ErrorMessage } from "../ui/components";
import { asProblem } from "../ui/load";

export const kB = 1000;
export const MB = 1000 * kB;

/** Reads a file as text, chunk by chunk, from its start. */
export class Source {
  /** The number of bytes read. */
  read = 0;
  private readonly decoder: Decoder;

  /** @param chosen the label of the encoding that the reader has chosen; by default it is
      detected */
  constructor(
    private readonly file: StoredFile,
    chosen?: string,
  ) {
    this.decoder = new Decoder(chosen, charsetOf(file));
  }

  get bytes() {
    return this.file.bytes;
  }
  get ended() {
    return this.read >= this.file.bytes;
  }
  /** The name of the encoding. */
  get encoding() {
    return this.decoder.name;
  }
  /** The label of the encoding. */
  get label() {
    return this.decoder.label;
  }
  /** Whether the first text is plausible, as opposed to other bytes that decode by chance. */
  isText(text: string): boolean {
    return (encodingOf(this.label)?.unit ?? 1) > 1 || !isBinary(text);
  }

  /** Reads the next chunk, of at most `length` bytes. After an error it can be called again. */
  async next(length: number, signal?: AbortSignal): Promise<string> {
    const chunk = new Uint8Array(await range(this.file, this.read, Math.min(length, this.bytes - this.read), signal));
    if (!chunk.length) throw new Problem(0, "short", "The file is shorter than its record says. It may have been replaced: load the page again.");
    this.read += chunk.length;
    return this.decoder.push(chunk, this.ended);
  }
}

/** The encoding in the media type of a file, unless a service would guess it for any text. */
function charsetOf({ mimetype }: StoredFile): string | undefined {
  const label = /;\s*charset="?([\w.:-]+)/i.exec(mimetype)?.[1];
  try {
    const known = label && new TextDecoder(label).encoding;
    return known && !/^(utf-8|windows-1252)$/.test(known) && encodingOf(known) ? known : undefined;
  } catch {
    return undefined;
  }
}

/** Decodes a file in chunks: in the chosen encoding, or by its byte order mark, or as UTF-8, or
    in the most likely encoding. */
export class Decoder {
  name = "";
  label = "";
  private decoder: StreamDecoder | undefined;
  private ascii = true;

  constructor(
    private readonly chosen?: string,
    private readonly charset?: string,
  ) {}

  async push(chunk: Uint8Array, last: boolean): Promise<string> {
    if (!this.decoder) await this.start(chunk);
    if (this.label === "utf-8" && !this.chosen) {
      if (this.ascii && isISO2022JP(chunk)) this.use("iso-2022-jp");
      else {
        try {
          const text = this.decoder!.decode(chunk, { stream: !last });
          this.ascii &&= text.length === chunk.length && !chunk.some((b) => b > 127);
          return text;
        } catch {
          // ASCII so far is valid in other encodings, too. Otherwise the file is damaged UTF-8,
          // whose invalid bytes become replacement characters.
          const named = this.charset && isValid(this.charset, chunk) ? this.charset : undefined;
          this.use(this.ascii ? named ?? (await detected(chunk)) : "utf-8");
          if (!this.ascii) this.name = "UTF-8, damaged";
        }
      }
    }
    return this.decoder!.decode(chunk, { stream: !last });
  }

  private async start(chunk: Uint8Array) {
    const marked = markedEncoding(chunk)?.label;
    if (this.chosen) return this.use(this.chosen);
    if (marked && marked !== "utf-8") return this.use(marked);
    const wide = chunk.includes(0) ? await detected(chunk) : "utf-8";
    this.use(wide, wide === "utf-8");
  }

  private use(label: string, fatal = false) {
    this.label = label;
    this.name = nameOf(label);
    this.decoder = decoderOf(label, { fatal });
  }
}

/** The most likely encoding of a text that is not UTF-8. */
const detected = async (chunk: Uint8Array) => (await import("../encoding/detect")).detect(chunk) ?? "utf-8";

/** Whether bytes are valid in an encoding; the last character can be incomplete. */
function isValid(label: string, chunk: Uint8Array): boolean {
  try {
    decoderOf(label, { fatal: true }).decode(chunk, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Whether a text contains control characters that do not occur in text files. */
export const isBinary = (text: string) => /[\0-\x08\x0e-\x19]/.test(text.slice(0, 16 * kB));

/** Finds out why an element could not show a file: browsers do not report the reason, so one byte
    is requested. */
export function useReadError(file: StoredFile, failed: boolean): { problem: Problem | undefined; checked: boolean } {
  const [state, setState] = useState<{ problem: Problem | undefined; checked: boolean }>({ problem: undefined, checked: false });
  useEffect(() => {
    if (!failed) return;
    const control = new AbortController();
    range(file, 0, 1, control.signal).then(
      () => setState({ problem: undefined, checked: true }),
      (thrown) => control.signal.aborted || setState({ problem: asProblem(thrown), checked: true }),
    );
    return () => control.abort();
  }, [failed, file.dataUrl]);
  return state;
}

/** Loads a file and returns its object URL, valid until the component unmounts. The data
    address is not suitable: browsers reuse content cached for an address, even after the file
    was replaced.
    @param type its media type, if the recorded one is wrong */
export function useObjectURL(file: StoredFile, wanted: boolean, type?: string): { address?: string; blob?: Blob; problem?: Problem; retry: () => void } {
  const [state, setState] = useState<{ address?: string; blob?: Blob; problem?: Problem }>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!wanted) return;
    const control = new AbortController();
    const { signal } = control;
    let address = "";
    setState({});
    downloadOrReason(file, signal).then(
      (blob) => !signal.aborted && setState({ blob, address: (address = URL.createObjectURL(type ? blob.slice(0, blob.size, type) : blob)) }),
      (thrown) => !signal.aborted && setState({ problem: asProblem(thrown) }),
    );
    return () => {
      control.abort();
      URL.revokeObjectURL(address);
    };
  }, [wanted, file.dataUrl, file.sha256, attempt]);
  return { ...state, retry: () => setAttempt((n) => n + 1) };
}

/** Downloads a file. An interrupted download has no error code, so one byte is requested: the
    service can report damage. */
export async function downloadOrReason(file: StoredFile, signal: AbortSignal): Promise<Blob> {
  try {
    return await download(file, signal);
  } catch (thrown) {
    if (asProblem(thrown).code === "cut_off") await range(file, 0, 1, signal);
    throw thrown;
  }
}

const replaced = new Problem(412, "replaced", "The file has been replaced since this page was loaded. Load the page again to see the new one.");

/** An error while reading a file. For a damaged file, it says how to repair it. */
export function ReadError({ problem, retry }: { problem: Problem; retry: () => void }) {
  return (
    <>
      <ErrorMessage problem={problem.status === 412 ? replaced : problem} retry={retry} />
      {problem.code === "data_damaged" && (
        <p class="dim">The disk of the server has damaged this file. Ask the administrator to restore it from a backup, or upload the same file again.</p>
      )}
    </>
  );
}

/** The shown part of a file. */
export function ShownPart({ shown, of }: { shown: number; of: number }) {
  return (
    <>
      the first {size(shown)} of {size(of)}
    </>
  );
}

/** An AbortController that aborts when the component unmounts. */
export function useAbortController(): AbortController {
  const control = useRef<AbortController | undefined>(undefined);
  control.current ??= new AbortController();
  useEffect(() => () => control.current!.abort(), []);
  return control.current;
}
