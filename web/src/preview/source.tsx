// The bytes of a file, part by part, and the text that they are.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Resource } from "../api";
import { Problem, range, whole } from "../api";
import { size } from "../human";
import { Failed } from "../ui/basics";
import { asProblem, useLoad } from "../ui/load";

export const kB = 1000;
export const MB = 1000 * kB;

/** Reads a file from its start, part by part, as text. */
export class Source {
  /** How many bytes have been read. */
  read = 0;
  private decoder = new Decoder();

  constructor(private readonly resource: Resource) {}

  get bytes() {
    return this.resource.bytes;
  }
  get ended() {
    return this.read >= this.resource.bytes;
  }
  get encoding() {
    return this.decoder.name;
  }

  /** The next part of at most `length` bytes. After an error it can be called again. */
  async next(length: number, signal?: AbortSignal): Promise<string> {
    const part = new Uint8Array(await range(this.resource, this.read, Math.min(length, this.bytes - this.read), signal));
    if (!part.length) throw new Problem(0, "short", "The file ends sooner than its record says. It may just have been replaced: load the page again.");
    this.read += part.length;
    return this.decoder.push(part, this.ended);
  }
}

/** Turns parts of a file into text: what its mark at the start says, else UTF-8, else Latin-1 as browsers read it. */
export class Decoder {
  name = "";
  private decoder: TextDecoder | undefined;
  private ascii = true;

  push(part: Uint8Array, last: boolean): string {
    this.decoder ??= this.start(part);
    if (this.name === "UTF-8") {
      try {
        const text = this.decoder.decode(part, { stream: !last });
        this.ascii &&= text.length === part.length && !part.some((b) => b > 127);
        return text;
      } catch {
        // What was pure ASCII so far is as well Latin-1; else some bytes are no text, and are shown as such.
        this.decoder = new TextDecoder(this.ascii ? "latin1" : "utf-8");
        this.name = this.ascii ? "Latin-1" : "UTF-8, damaged";
      }
    }
    return this.decoder.decode(part, { stream: !last });
  }

  private start(part: Uint8Array): TextDecoder {
    const mark = part[0] === 0xff && part[1] === 0xfe ? "UTF-16LE" : part[0] === 0xfe && part[1] === 0xff ? "UTF-16BE" : "UTF-8";
    this.name = mark;
    return new TextDecoder(mark, { fatal: mark === "UTF-8" });
  }
}

/** Whether a text holds what no text does. */
export const isBinary = (text: string) => /[\0-\x08\x0e-\x19]/.test(text.slice(0, 16 * kB));

/** A whole file as text, where it has at most `bound` bytes; else its first part, for those who can do with that. */
export function useText(resource: Resource, bound: number, part = 256 * kB) {
  return useLoad(async (signal) => {
    const whole = resource.bytes <= bound;
    const source = new Source(resource);
    return { whole, text: await source.next(whole ? bound : part, signal), encoding: source.encoding };
  }, [resource.sha256, resource.id]);
}

/** Why a browser could not show what it fetched by itself: it tells nobody, so the service is asked for one byte. */
export function useReason(resource: Resource, failed: boolean): { problem: Problem | undefined; asked: boolean } {
  const [state, setState] = useState<{ problem: Problem | undefined; asked: boolean }>({ problem: undefined, asked: false });
  useEffect(() => {
    if (!failed) return;
    const control = new AbortController();
    range(resource, 0, 1, control.signal).then(
      () => setState({ problem: undefined, asked: true }),
      (thrown) => control.signal.aborted || setState({ problem: asProblem(thrown), asked: true }),
    );
    return () => control.abort();
  }, [failed, resource.id]);
  return state;
}

/**
 * The address of all of a file within the browser, as soon as it is here and as long as the component is. The address of its data
 * would not do: a document that has shown what was there before shows that again.
 */
export function useAddress(resource: Resource, wanted: boolean): { address?: string; problem?: Problem; retry: () => void } {
  const [state, setState] = useState<{ address?: string; problem?: Problem }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (!wanted) return;
    const control = new AbortController();
    const { signal } = control;
    let made = "";
    setState({});
    wholeOrReason(resource, signal).then(
      (blob) => !signal.aborted && setState({ address: (made = URL.createObjectURL(blob)) }),
      (thrown) => !signal.aborted && setState({ problem: asProblem(thrown) }),
    );
    return () => {
      control.abort();
      URL.revokeObjectURL(made);
    };
  }, [wanted, resource.id, resource.sha256, turn]);
  return { ...state, retry: () => setTurn((t) => t + 1) };
}

/** Where a file breaks off nobody says why: the service, which may have found damage, is asked for one byte. */
export async function wholeOrReason(resource: Resource, signal: AbortSignal): Promise<Blob> {
  try {
    return await whole(resource, signal);
  } catch (thrown) {
    if (asProblem(thrown).code === "cut_off") await range(resource, 0, 1, signal);
    throw thrown;
  }
}

const replaced = new Problem(412, "replaced", "The file has been replaced since this page was loaded. Load the page again to see the new one.");

/** What went wrong with reading a file; of damage it says what helps. */
export function Unread({ problem, retry }: { problem: Problem; retry: () => void }) {
  return (
    <>
      <Failed problem={problem.status === 412 ? replaced : problem} retry={retry} />
      {problem.code === "data_damaged" && (
        <p class="dim">The disk of the service has lost bytes of this file. Tell whoever runs it: a backup brings them back. So does whoever uploads the same file again.</p>
      )}
    </>
  );
}

/** How much of a file is shown, where it is not all. */
export function Part({ shown, of }: { shown: number; of: number }) {
  return (
    <>
      the first {size(shown)} of {size(of)}
    </>
  );
}

/** An AbortController that ends with the component. */
export function useControl(): AbortController {
  const control = useRef<AbortController | undefined>(undefined);
  control.current ??= new AbortController();
  useEffect(() => () => control.current!.abort(), []);
  return control.current;
}
