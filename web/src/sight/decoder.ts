// The page's side of a decoder: a worker without network access. The page reads the ranges that the
// worker requests.
import { base, Problem, range } from "../api";
import type { StoredFile } from "../api";
import type { FromDecoder, Method, Requests, ToDecoder } from "./messages";

/** The paths of the decoders by their names; verify/tools/bundle defines them. */
declare const DECODERS: string;
const scripts = JSON.parse(DECODERS) as Record<string, string>;

/** The maximum computing time of a decoder, in ms. Waiting for bytes does not count. */
const maxComputing = 20_000;

/** The maximum number of bytes that a decoder can read in total. */
const maxRead = 512 << 20;

/** The reason why a decoder cannot show a file, in words for the user. */
export class Undecodable extends Problem {
  constructor(why: string) {
    super(-2, "undecodable", why);
  }
}

interface Waiting {
  resolve: (answer: never) => void;
  reject: (why: unknown) => void;
}

export class Decoder {
  private readonly worker: Worker;
  private readonly control = new AbortController();
  private readonly waiting = new Map<number, Waiting>();
  private calls = 0;
  private reading = 0;
  private read = 0;
  private most = maxRead;
  private timer = 0;
  private ended: unknown;

  constructor(
    name: string,
    /** Undefined: it reads no file. */
    private readonly file: StoredFile | undefined,
    /** Called when it ends unexpectedly: after a timeout, a failure, or a read error. */
    private readonly onEnd: (why: unknown) => void,
  ) {
    this.worker = new Worker(`${base}/${scripts[name]}`);
    this.worker.onmessage = (e: MessageEvent<FromDecoder>) => this.receive(e.data);
    this.worker.onerror = (e) => (e.preventDefault(), this.end(new Undecodable("The decoder for this file stopped unexpectedly.")));
  }

  call<M extends Method>(method: M, argument: Requests[M]["argument"]): Promise<Requests[M]["answer"]> {
    if (this.ended) return Promise.reject(this.ended);
    const call = ++this.calls;
    return new Promise((resolve, reject) => {
      this.waiting.set(call, { resolve, reject });
      this.send({ kind: "call", call, method, argument });
      this.watch();
    });
  }

  /** Whether the page has closed it. */
  get closed() {
    return this.ended instanceof DOMException;
  }

  /** Allows this many more bytes, at the user's request. */
  allow(bytes: number) {
    this.most += bytes;
  }

  /** Ends the worker and fails pending calls. */
  close() {
    this.stop(new DOMException("The decoder is no longer used.", "AbortError"));
  }

  private end(why: unknown) {
    if (this.ended) return;
    this.stop(why);
    this.onEnd(why);
  }

  private stop(why: unknown) {
    this.ended ??= why;
    clearTimeout(this.timer);
    this.worker.terminate();
    this.control.abort();
    for (const { reject } of this.waiting.values()) reject(why);
    this.waiting.clear();
  }

  private send(message: ToDecoder, ...transferred: ArrayBuffer[]) {
    this.worker.postMessage(message, transferred);
  }

  /** Limits the time until the next message of the worker, while it computes. */
  private watch() {
    clearTimeout(this.timer);
    if (this.reading || !this.waiting.size || this.ended) return;
    const late = () => this.end(new Undecodable(`Reading this file was stopped after ${maxComputing / 1000} s.`));
    this.timer = setTimeout(late, maxComputing) as unknown as number;
  }

  private receive(message: FromDecoder) {
    if (this.ended || message.kind === "ready") return;
    if (message.kind === "read") {
      void this.feed(message.read, message.start, message.length);
    } else {
      const waiting = this.waiting.get(message.call);
      this.waiting.delete(message.call);
      if (message.kind === "failed") waiting?.reject(new Undecodable(message.why));
      else waiting?.resolve(message.answer as never);
    }
    this.watch();
  }

  private async feed(read: number, start: number, length: number) {
    if (!this.file) return;
    this.read += length;
    if (this.read > this.most) return this.end(new Undecodable("Showing more of this file would read too much of it. Load the page again, or download the file."));
    this.reading++;
    try {
      const bytes = await range(this.file, start, length, this.control.signal);
      this.reading--;
      if (!this.ended) this.send({ kind: "bytes", read, bytes }, bytes);
    } catch (thrown) {
      this.reading--;
      this.end(thrown);
    }
    this.watch();
  }
}
