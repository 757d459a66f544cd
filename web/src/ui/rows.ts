// The rows of a listing of any length. If the listing has an outline, all pages are known immediately,
// and pages near the visible rows are fetched. Otherwise pages are fetched in order as the visible
// rows approach the last known one. Distant pages are evicted; their addresses stay, so that they
// can be fetched again.
import type { Listing, Outline, Page, Problem } from "../api";
import { pageSize, pathOf } from "../api";
import { asProblem } from "./load";

/** Rows that are fetched ahead of the visible ones. */
const ahead = 400;

/** The number of pages kept in memory. */
const maxPages = 24;

/** The distance before the visible rows within which pages are fetched after the visible ones. */
const around = 120;

/** The maximum number of rows fetched when all are needed, such as for printing. */
const maxRows = 10_000;

/** Lists are refreshed automatically up to this scroll position, in rows. Below it, the user is
    asked. */
const maxAutoRefresh = 2000;

interface Chunk<T> {
  address: string;
  /** Undefined before they are fetched and after they are evicted. */
  items: T[] | undefined;
  /** The number of rows when the page was fetched last. */
  count: number;
}

export class Rows<T> {
  private chunks: Chunk<T>[] = [];
  private readonly first: string;
  private next: string | undefined;
  private visible = { first: 0, last: 0 };
  private control = new AbortController();
  private running: Promise<void> | undefined;
  private dirty = false;
  /** Whether all rows are needed, not only those near the visible ones. */
  private all = false;
  /** The beginnings of pages; undefined until it is fetched, and for a listing of one page. */
  outline: Outline | undefined;
  /** The number of rows that are known so far. */
  known = 0;
  /** Whether a page has been fetched, so that this list can replace an earlier one on the screen.
   */
  started = false;
  /** Whether the list may have changed, but is too long to be refreshed automatically. */
  stale = false;
  problem: Problem | undefined;

  /** Called after every change. */
  onChange: () => void = () => {};

  constructor(private readonly listing: Listing<T>) {
    this.first = `${listing.first}${listing.first.includes("?") ? "&" : "?"}limit=${pageSize}`;
    this.next = this.first;
  }

  /** The last page is known. */
  get ended() {
    return this.started && this.next === undefined;
  }

  /** Every row is in memory, or the first 10,000 of more. */
  get complete() {
    return this.started && !this.dirty && (this.ended || this.known >= maxRows) && !this.missing(0, maxRows);
  }

  /** The number of rows in memory. */
  get loaded() {
    return this.chunks.reduce((sum, { items }) => sum + (items?.length ?? 0), 0);
  }

  /** Fetches all rows, up to 10,000, and keeps them until `release`. Resolves when they are in memory, or with `problem` set. */
  async fetchAll(): Promise<void> {
    this.all = true;
    if (!this.problem) await this.run();
  }

  /** Ends `fetchAll`: rows far from the visible ones are evicted again. */
  release() {
    this.all = false;
    this.evict();
  }

  /** The row at an index; undefined while it is not in memory. */
  at(index: number): T | undefined {
    for (const chunk of this.chunks) {
      if (index < chunk.count) return chunk.items?.[index];
      index -= chunk.count;
    }
    return undefined;
  }

  /** Sets the visible rows, and fetches them and the following ones. */
  show(first: number, last: number) {
    this.visible = { first, last };
    if (!this.problem) void this.run();
  }

  retry() {
    this.problem = undefined;
    this.onChange();
    void this.run();
  }

  /** Fetches everything again because it may have changed; until then the rows stay. Without
      `force`, a long list only becomes stale. */
  refresh(force = false) {
    if (!this.started) return;
    this.stale = !force && this.visible.last > maxAutoRefresh;
    this.dirty = !this.stale;
    if (this.dirty) void this.run();
    else this.onChange();
  }

  /** Cancels pending requests. Rows stay. */
  stop() {
    this.control.abort();
    this.control = new AbortController();
  }

  private run(): Promise<void> {
    return (this.running ??= this.fetchNeeded());
  }

  private async fetchNeeded() {
    const { signal } = this.control;
    try {
      while (await this.fetchNext(signal)) this.onChange();
    } catch (thrown) {
      if (!signal.aborted) this.problem = asProblem(thrown);
    } finally {
      this.running = undefined;
      this.onChange();
    }
  }

  /** Fetches one needed page; false if no page is needed. */
  private async fetchNext(signal: AbortSignal): Promise<boolean> {
    if (this.dirty) return this.refetch(signal);
    const { first, last } = this.all ? { first: 0, last: maxRows } : this.visible;
    const evicted = this.missing(first, last) ?? (this.outline && this.missing(first - around, last + ahead));
    if (evicted) {
      this.store(evicted, await this.listing.page(evicted.address, signal));
    } else if (this.next !== undefined && (!this.started || this.known < (this.all ? last : last + ahead))) {
      const chunk: Chunk<T> = { address: this.next, items: undefined, count: 0 };
      const page = await this.listing.page(chunk.address, signal);
      const outline = !this.started && page.next !== undefined && page.items.length >= pageSize ? await this.fetchOutline(signal) : undefined;
      this.chunks.push(chunk);
      this.store(chunk, page);
      this.next = page.next;
      if (outline) this.addOutline(outline);
    } else {
      return false;
    }
    this.started = true;
    return true;
  }

  /** Without the outline, the list is correct, but its length is not known yet. */
  private fetchOutline = (signal: AbortSignal) =>
    this.listing.outline?.(signal).catch((thrown) => {
      if (signal.aborted) throw thrown;
      return undefined;
    });

  /** Adds the pages of an outline after the first one, whose rows are loaded. */
  private addOutline({ total, bounded, marks }: Outline) {
    this.outline = { total, bounded, marks };
    marks.forEach(({ index, page }, i) => {
      const end = marks[i + 1]?.index ?? total;
      if (end === total && bounded) this.next = pathOf(page);
      else this.add(pathOf(page), end - index);
    });
    if (!bounded) this.next = undefined;
  }

  private add(address: string, count: number) {
    this.chunks.push({ address, items: undefined, count });
    this.known += count;
  }

  /** Fetches the rows at a position in the order: after the last mark before it. Returns the index
      of the first row that is not before it. */
  async find(isBefore: (at: { name?: string; modified?: string } | T) => boolean): Promise<number> {
    const last = this.outline?.marks.filter(isBefore).at(-1);
    const of = Math.max(0, this.chunks.findIndex((chunk) => last && chunk.address === pathOf(last.page)));
    const begin = this.chunks.slice(0, of).reduce((sum, { count }) => sum + count, 0);
    const chunk = this.chunks[of]!;
    this.visible = { first: begin, last: begin + 1 }; // so that it is not evicted
    if (!chunk.items) this.store(chunk, await this.listing.page(chunk.address, this.control.signal));
    let at = begin;
    for (let row = this.at(at); row !== undefined && isBefore(row); row = this.at(at)) at++;
    return at;
  }

  /** A page that is fetched again can have another number of rows. */
  private store(chunk: Chunk<T>, page: Page<T>) {
    this.known += page.items.length - chunk.count;
    chunk.items = page.items;
    chunk.count = page.items.length;
    this.evict();
  }

  /** An evicted page with some of these rows. */
  private missing(first: number, last: number): Chunk<T> | undefined {
    let begin = 0;
    for (const chunk of this.chunks) {
      const end = begin + chunk.count;
      if (!chunk.items && begin < last && end > first) return chunk;
      begin = end;
    }
    return undefined;
  }

  private evict() {
    const inMemory = this.chunks.filter((chunk) => chunk.items);
    if (this.all || inMemory.length <= maxPages) return;
    const middle = (this.visible.first + this.visible.last) / 2;
    let first = 0;
    const distance = new Map<Chunk<T>, number>();
    for (const chunk of this.chunks) {
      distance.set(chunk, Math.abs(first + chunk.count / 2 - middle));
      first += chunk.count;
    }
    inMemory.sort((a, b) => distance.get(b)! - distance.get(a)!);
    for (const chunk of inMemory.slice(0, inMemory.length - maxPages)) chunk.items = undefined;
  }

  /** Fetches from the start to the visible rows, or with an outline the first and the visible
      pages, then replaces all. */
  private async refetch(signal: AbortSignal): Promise<boolean> {
    this.dirty = false;
    const fresh = new Rows(this.listing);
    fresh.visible = this.visible;
    try {
      while ((fresh.known <= this.visible.last && fresh.next !== undefined) || !fresh.started || fresh.missing(this.visible.first, this.visible.last)) {
        if (!(await fresh.fetchNext(signal))) break;
      }
    } catch (thrown) {
      this.dirty = true; // the rows are outdated: a retry begins here
      throw thrown;
    }
    this.chunks = fresh.chunks;
    this.known = fresh.known;
    this.next = fresh.next;
    this.outline = fresh.outline;
    this.stale = false;
    this.evict();
    return true;
  }
}
