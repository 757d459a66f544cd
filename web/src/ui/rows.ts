// The rows of a listing of any length, as they are needed: pages are fetched one after the other as the visitor comes near the end of
// what is known, and those that are far away are forgotten again. Only their addresses are kept, by which they come back.
import type { Listing, Page, Problem } from "../api";
import { asProblem } from "./load";

/** Rows beyond those in sight that are fetched before they are seen. */
const ahead = 400;

/** Pages whose rows are kept. */
const kept = 24;

/** Rows of a page. */
const size = 200;

/** Rows that are fetched at most when all are wanted, such as for printing. */
const mostAtOnce = 10_000;

/** Rows up to which a list is fetched anew by itself when it may have changed; farther down the visitor is asked. */
const quietly = 2000;

interface Chunk<T> {
  address: string;
  /** Undefined before it is here, and when it is forgotten. */
  items: T[] | undefined;
  /** How many rows it has, as of the last time that it was here. */
  count: number;
}

export class Rows<T> {
  private chunks: Chunk<T>[] = [];
  private readonly first: string;
  private next: string | undefined;
  private sight = { first: 0, last: 0 };
  private control = new AbortController();
  private running: Promise<void> | undefined;
  private dirty = false;
  /** All rows are wanted, not only those near the ones in sight. */
  private whole = false;
  /** Rows that are known to be there. */
  known = 0;
  /** Something has come: what is shown of an earlier list can go. */
  begun = false;
  /** The list may have changed since, and is so long that it is not fetched anew unasked. */
  stale = false;
  problem: Problem | undefined;

  /** Called after every change. */
  tell: () => void = () => {};

  constructor(private readonly listing: Listing<T>) {
    this.first = `${listing.first}${listing.first.includes("?") ? "&" : "?"}limit=${size}`;
    this.next = this.first;
  }

  /** All rows are known. */
  get ended() {
    return this.begun && this.next === undefined;
  }

  /** Every row is here, or the first 10,000 of more. */
  get complete() {
    return this.begun && !this.dirty && (this.ended || this.known >= mostAtOnce) && !this.missing(0, mostAtOnce);
  }

  /** Fetches all rows, up to 10,000, and keeps them until `release`. Resolves when they are here, or with `problem` set. */
  async all(): Promise<void> {
    this.whole = true;
    if (!this.problem) await this.run();
  }

  /** Ends what `all` began: rows far from those in sight are forgotten again. */
  release() {
    this.whole = false;
    this.forget();
  }

  /** A row, or nothing while it is not here. */
  at(index: number): T | undefined {
    for (const chunk of this.chunks) {
      if (index < chunk.count) return chunk.items?.[index];
      index -= chunk.count;
    }
    return undefined;
  }

  /** Says which rows are in sight, so that they and those that follow are fetched. */
  see(first: number, last: number) {
    this.sight = { first, last };
    if (!this.problem) void this.run();
  }

  retry() {
    this.problem = undefined;
    this.tell();
    void this.run();
  }

  /** Fetches everything anew, because it may have changed; until then all stays as it was. */
  refresh(asked = false) {
    if (!this.begun) return;
    this.stale = !asked && this.sight.last > quietly;
    this.dirty = !this.stale;
    if (this.dirty) void this.run();
    else this.tell();
  }

  /** Ends what is under way, when nobody looks any more. What is known stays. */
  stop() {
    this.control.abort();
    this.control = new AbortController();
  }

  private run(): Promise<void> {
    return (this.running ??= this.steps());
  }

  private async steps() {
    const { signal } = this.control;
    try {
      while (await this.step(signal)) this.tell();
    } catch (thrown) {
      if (!signal.aborted) this.problem = asProblem(thrown);
    } finally {
      this.running = undefined;
      this.tell();
    }
  }

  /** Fetches one page that is needed, or tells that there is none. */
  private async step(signal: AbortSignal): Promise<boolean> {
    if (this.dirty) return this.again(signal);
    const { first, last } = this.whole ? { first: 0, last: mostAtOnce } : this.sight;
    const lost = this.missing(first, last);
    if (lost) {
      this.take(lost, await this.listing.page(lost.address, signal));
    } else if (this.next !== undefined && (!this.begun || this.known < (this.whole ? last : last + ahead))) {
      const chunk: Chunk<T> = { address: this.next, items: undefined, count: 0 };
      const page = await this.listing.page(chunk.address, signal);
      this.chunks.push(chunk);
      this.take(chunk, page);
      this.next = page.next;
    } else {
      return false;
    }
    this.begun = true;
    return true;
  }

  /** Puts what came into its place. A page that comes again can be longer or shorter than it was. */
  private take(chunk: Chunk<T>, page: Page<T>) {
    this.known += page.items.length - chunk.count;
    chunk.items = page.items;
    chunk.count = page.items.length;
    this.forget();
  }

  /** A page with some of these rows that was forgotten. */
  private missing(first: number, last: number): Chunk<T> | undefined {
    let begin = 0;
    for (const chunk of this.chunks) {
      const end = begin + chunk.count;
      if (!chunk.items && begin < last && end > first) return chunk;
      begin = end;
    }
    return undefined;
  }

  private forget() {
    const here = this.chunks.filter((chunk) => chunk.items);
    if (this.whole || here.length <= kept) return;
    const middle = (this.sight.first + this.sight.last) / 2;
    let first = 0;
    const distance = new Map<Chunk<T>, number>();
    for (const chunk of this.chunks) {
      distance.set(chunk, Math.abs(first + chunk.count / 2 - middle));
      first += chunk.count;
    }
    here.sort((a, b) => distance.get(b)! - distance.get(a)!);
    for (const chunk of here.slice(0, here.length - kept)) chunk.items = undefined;
  }

  /** Walks from the start as far as the visitor has come, then shows that instead. */
  private async again(signal: AbortSignal): Promise<boolean> {
    this.dirty = false;
    const fresh: Chunk<T>[] = [];
    let known = 0;
    let next: string | undefined = this.first;
    try {
      while (next !== undefined && known <= this.sight.last) {
        const page: Page<T> = await this.listing.page(next, signal);
        fresh.push({ address: next, items: page.items, count: page.items.length });
        known += page.items.length;
        next = page.next;
      }
    } catch (thrown) {
      this.dirty = true; // what is shown is old: the next try begins with this
      throw thrown;
    }
    this.chunks = fresh;
    this.known = known;
    this.next = next;
    this.stale = false;
    this.forget();
    return true;
  }
}
