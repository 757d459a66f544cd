// The worker's side of a decoder: it answers calls of the page, and requests ranges of the file
// from the page.
import type { Chosen, Content, FromDecoder, Letters, Method, Model, Part, Raster, Region, Requests, Scan, Scanned, Selection, ToDecoder } from "../../sight/messages";

/** A file that is read by ranges. */
export interface Input {
  readonly name: string;
  readonly bytes: number;
  /** Bytes from `start`; fewer than `length` only at the end of the file. */
  read(start: number, length: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** A file that a decoder has opened. */
export interface Opened {
  content: Content;
  slice?: (selection: Selection) => Promise<Part>;
  picture?: (region: Region) => Promise<Raster>;
  scan?: (scan: Scan | undefined) => Promise<Scanned>;
  entry?: (id: number) => Promise<Uint8Array<ArrayBuffer>>;
  model?: (chosen: Chosen) => Promise<Model>;
  letters?: (part: Requests["letters"]["argument"]) => Promise<Letters>;
  more?: () => Promise<Content>;
}

/** The reason why a file cannot be shown, in words for the user. */
export class Refused extends Error {}

export const MiB = 1 << 20;

/** Limits: bytes in memory at a time, and bytes unpacked from one stream. */
export const maxBytes = 64 * MiB;

/** Reads a file as a whole. */
export async function whole(input: Input): Promise<Uint8Array<ArrayBuffer>> {
  if (input.bytes > maxBytes) throw new Refused(`Such files are read as a whole, up to ${maxBytes / MiB} MiB; this one is larger.`);
  return input.read(0, input.bytes);
}

const scope = globalThis as unknown as { postMessage(message: FromDecoder, transferred: Transferable[]): void };
const send = (message: FromDecoder, ...transferred: Transferable[]) => scope.postMessage(message, transferred);

/** Small reads come from cached blocks of this size. A read soon after a cached block fetches
    `ahead` of them. */
const block = 16 << 10;
const keptBlocks = 512;
const ahead = 8;

/** Smaller files are read completely. */
const small = 2 * MiB;

class PageInput implements Input {
  private waiting = new Map<number, { resolve: (bytes: ArrayBuffer) => void; reject: (why: Error) => void }>();
  private blocks = new Map<number, Promise<Uint8Array<ArrayBuffer>>>();
  private all: Promise<Uint8Array<ArrayBuffer>> | undefined;
  private reads = 0;

  constructor(
    readonly name: string,
    readonly bytes: number,
  ) {}

  async read(start: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    if (!(start >= 0 && length >= 0)) throw new Refused("It refers to bytes before its start.");
    const end = Math.min(this.bytes, start + length);
    if (end <= start) return new Uint8Array(0);
    if (end - start > maxBytes) throw new Refused(`Reading it requires more than ${maxBytes / MiB} MiB at a time.`);
    if (this.bytes <= small) return (await (this.all ??= this.fetch(0, this.bytes))).slice(start, end);
    const first = Math.floor(start / block);
    if (end - start > ahead * block) return this.fetch(start, end - start);
    const parts = [];
    for (let at = first; at * block < end; at++) parts.push(this.block(at, Math.ceil(end / block) - at));
    const joined = concat(await Promise.all(parts));
    return joined.slice(start - first * block, end - first * block);
  }

  private block(at: number, wanted: number): Promise<Uint8Array<ArrayBuffer>> {
    const found = this.blocks.get(at);
    if (!found) return this.fetchBlocks(at, this.isNear(at) ? ahead : wanted);
    this.blocks.delete(at); // the most recently used block is evicted last
    this.blocks.set(at, found);
    return found;
  }

  private isNear(at: number): boolean {
    for (let n = 1; n <= ahead; n++) if (this.blocks.has(at - n)) return true;
    return false;
  }

  private fetchBlocks(first: number, count: number): Promise<Uint8Array<ArrayBuffer>> {
    const all = this.fetch(first * block, Math.min(count * block, this.bytes - first * block));
    for (let i = 0; i < count && (first + i) * block < this.bytes; i++) {
      if (i && this.blocks.has(first + i)) continue;
      this.blocks.set(first + i, all.then((bytes) => bytes.subarray(i * block, (i + 1) * block)));
    }
    while (this.blocks.size > keptBlocks) this.blocks.delete(this.blocks.keys().next().value!);
    return this.blocks.get(first)!;
  }

  private fetch(start: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
    const read = ++this.reads;
    send({ kind: "read", read, start, length });
    return new Promise<ArrayBuffer>((resolve, reject) => this.waiting.set(read, { resolve, reject })).then((bytes) => new Uint8Array(bytes));
  }

  receive(read: number, bytes: ArrayBuffer | undefined) {
    const waiting = this.waiting.get(read);
    this.waiting.delete(read);
    if (bytes) waiting?.resolve(bytes);
    else waiting?.reject(new Refused("Its bytes could not be read."));
  }
}

export function concat(parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

type Calls = { [M in Method]?: (argument: Requests[M]["argument"]) => Promise<Requests[M]["answer"]> };

/** Answers the page with the result of `open` for a file. */
export function serve(open: (input: Input) => Promise<Opened>) {
  let input: PageInput | undefined;
  let opened: Opened | undefined;
  const calls: Calls = {
    open: async ({ name, bytes }) => {
      input = new PageInput(name, bytes);
      opened = await open(input);
      return opened.content;
    },
    slice: (selection) => opened!.slice!(selection),
    picture: (region) => opened!.picture!(region),
    scan: (scan) => opened!.scan!(scan),
    entry: async (id) => (await opened!.entry!(id)).buffer,
    model: (chosen) => opened!.model!(chosen),
    letters: (part) => opened!.letters!(part),
    more: () => opened!.more!(),
  };
  answerCalls(calls, (read, bytes) => input?.receive(read, bytes));
}

/** Answers calls of the page. */
export function answerCalls(calls: Calls, receive?: (read: number, bytes: ArrayBuffer | undefined) => void) {
  const answer = async (message: ToDecoder) => {
    if (message.kind === "bytes") return receive?.(message.read, message.bytes);
    try {
      const answer: unknown = await calls[message.method]!(message.argument as never);
      const values = ArrayBuffer.isView(answer) ? answer : ((answer as { values?: unknown }).values ?? answer);
      const buffer = ArrayBuffer.isView(values) ? values.buffer : values instanceof ArrayBuffer ? values : undefined;
      send({ kind: "answer", call: message.call, answer }, ...(buffer ? [buffer as ArrayBuffer] : []));
    } catch (thrown) {
      const why = thrown instanceof Refused ? thrown.message : `It seems to be broken (${thrown instanceof Error ? thrown.message : String(thrown)}).`;
      send({ kind: "failed", call: message.call, why });
    }
  };
  addEventListener("message", (e: MessageEvent<ToDecoder>) => void answer(e.data));
  send({ kind: "ready" });
}
