// Reads the bytes of a file, chunk by chunk, and decodes them as text.
import { useEffect, useRef, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { download, Problem, range } from "../api";
import { size } from "../format";
import { ErrorMessage } from "../ui/components";
import { asProblem } from "../ui/load";

export const kB = 1000;
export const MB = 1000 * kB;

/** Reads a file as text, chunk by chunk, from its start. */
export class Source {
  /** The number of bytes read. */
  read = 0;
  private decoder = new Decoder();

  constructor(private readonly file: StoredFile) {}

  get bytes() {
    return this.file.bytes;
  }
  get ended() {
    return this.read >= this.file.bytes;
  }
  get encoding() {
    return this.decoder.name;
  }

  /** Reads the next chunk, of at most `length` bytes. After an error it can be called again. */
  async next(length: number, signal?: AbortSignal): Promise<string> {
    const chunk = new Uint8Array(await range(this.file, this.read, Math.min(length, this.bytes - this.read), signal));
    if (!chunk.length) throw new Problem(0, "short", "The file is shorter than its record says. It may have been replaced: load the page again.");
    this.read += chunk.length;
    return this.decoder.push(chunk, this.ended);
  }
}

/** Decodes a file chunk by chunk: by its byte order mark, else as UTF-8, else as Latin-1 (windows-1252, as in browsers). */
export class Decoder {
  name = "";
  private decoder: TextDecoder | undefined;
  private ascii = true;

  push(chunk: Uint8Array, last: boolean): string {
    this.decoder ??= this.start(chunk);
    if (this.name === "UTF-8") {
      try {
        const text = this.decoder.decode(chunk, { stream: !last });
        this.ascii &&= text.length === chunk.length && !chunk.some((b) => b > 127);
        return text;
      } catch {
        // ASCII so far is valid Latin-1, too. Otherwise the file is damaged UTF-8, whose invalid bytes are shown as replacement characters.
        this.decoder = new TextDecoder(this.ascii ? "latin1" : "utf-8");
        this.name = this.ascii ? "Latin-1" : "UTF-8, damaged";
      }
    }
    return this.decoder.decode(chunk, { stream: !last });
  }

  private start(chunk: Uint8Array): TextDecoder {
    const encoding = chunk[0] === 0xff && chunk[1] === 0xfe ? "UTF-16LE" : chunk[0] === 0xfe && chunk[1] === 0xff ? "UTF-16BE" : "UTF-8";
    this.name = encoding;
    return new TextDecoder(encoding, { fatal: encoding === "UTF-8" });
  }
}

/** Whether a text contains control characters that text files do not contain. */
export const isBinary = (text: string) => /[\0-\x08\x0e-\x19]/.test(text.slice(0, 16 * kB));

/** Finds out why an element could not show a file: browsers do not report it, so one byte is requested. */
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

/**
 * Loads a file and returns its object URL, valid until the component unmounts. The address of the data would not do: browsers reuse what a
 * document has shown under an address, also after the file was replaced.
 */
export function useObjectURL(file: StoredFile, wanted: boolean): { address?: string; blob?: Blob; problem?: Problem; retry: () => void } {
  const [state, setState] = useState<{ address?: string; blob?: Blob; problem?: Problem }>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (!wanted) return;
    const control = new AbortController();
    const { signal } = control;
    let address = "";
    setState({});
    downloadOrReason(file, signal).then(
      (blob) => !signal.aborted && setState({ blob, address: (address = URL.createObjectURL(blob)) }),
      (thrown) => !signal.aborted && setState({ problem: asProblem(thrown) }),
    );
    return () => {
      control.abort();
      URL.revokeObjectURL(address);
    };
  }, [wanted, file.dataUrl, file.sha256, attempt]);
  return { ...state, retry: () => setAttempt((n) => n + 1) };
}

/** Downloads a file. An interrupted download has no error code, so one byte is requested: the service may report damage. */
export async function downloadOrReason(file: StoredFile, signal: AbortSignal): Promise<Blob> {
  try {
    return await download(file, signal);
  } catch (thrown) {
    if (asProblem(thrown).code === "cut_off") await range(file, 0, 1, signal);
    throw thrown;
  }
}

const replaced = new Problem(412, "replaced", "The file has been replaced since this page was loaded. Load the page again to see the new one.");

/** An error while reading a file; for a damaged file, with what repairs it. */
export function ReadError({ problem, retry }: { problem: Problem; retry: () => void }) {
  return (
    <>
      <ErrorMessage problem={problem.status === 412 ? replaced : problem} retry={retry} />
      {problem.code === "data_damaged" && (
        <p class="dim">The disk of the service has lost bytes of this file. Tell the administrator: a backup restores them. An upload of the same file restores them, too.</p>
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
