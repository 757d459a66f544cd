// A decoder as the page sees it: a worker whose own answer forbids it the network. The page reads the ranges that it asks for.
import { base, Problem, range } from "../api";
import type { StoredFile } from "../api";
import type { FromDecoder, Method, Requests, ToDecoder } from "./messages";

/** The paths of the decoders by their names; verify/tools/bundle defines them. */
declare const DECODERS: string;
const scripts = JSON.parse(DECODERS) as Record<string, string>;

/** A decoder that computes for longer, in ms, is ended. Time in which it waits for bytes does not count. */
const maxComputing = 20_000;

/** Bytes of a file that a decoder may read in all. */
const maxRead = 512 << 20;

/** Why a decoder cannot show a file, in words for the user. */
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
    /** Undefined: it reads none. */
    private readonly file: StoredFile | undefined,
    /** Called when it ends by itself: it took too long, failed, or could not read the file. */
    private readonly onEnd: (why: unknown) => void,
  ) {
    this.worker = new Worker(`${base}/${scripts[name]}`);
    this.worker.onmessage = (e: MessageEvent<FromDecoder>) => this.receive(e.data);
    this.worker.onerror = (e) => (e.preventDefault(), this.end(new Undecodable("The part of this page that reads such files has stopped.")));
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

  /** Lets it read that many bytes more: the user has asked for them. */
  allow(bytes: number) {
    this.most += bytes;
  }

  /** Ends the worker; what it has not answered fails. */
  close() {
    this.stop(new DOMException("The decoder is not used any more.", "AbortError"));
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

  /** Limits the time until the next message of the worker, while it is its turn. */
  private watch() {
    clearTimeout(this.timer);
    if (this.reading || !this.waiting.size || this.ended) return;
    const late = () => this.end(new Undecodable(`Reading this file took longer than ${maxComputing / 1000} s, and was stopped.`));
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
