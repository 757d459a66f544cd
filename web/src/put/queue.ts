// What is being sent. There is one queue for the whole window: it goes on while the visitor looks at other pages.
import { useEffect, useReducer, useState } from "preact/hooks";
import type { DataSet, Resource } from "../api";
import { base, Problem, sets } from "../api";
import { asProblem } from "../ui/load";
import type { Picked, Unread } from "./collect";
import { uploadFile } from "./parts";
import type { Agreed } from "./replace";
import { replaceFile, versionOf } from "./replace";
import { sha256 } from "./sha256";
import { Speed } from "./speed";

/** Files that are sent at the same time: enough to hide the way there and back of small ones. */
const lanes = 4;

export interface Item {
  /** Counts what was ever put in. */
  readonly id: number;
  readonly picked: Picked;
  readonly set: DataSet;
  /** What it may replace. Without it, it comes as another file of its name. */
  readonly replaces: Agreed | undefined;
  state: "waiting" | "comparing" | "sending" | "sent" | "there" | "failed" | "cancelled";
  /** Bytes that have left. */
  sent: number;
  /** The service does not answer, and is tried again. */
  unanswered?: boolean;
  problem?: Problem;
  resource?: Resource;
  control?: AbortController;
}

export const over = (item: Item) => !["waiting", "comparing", "sending"].includes(item.state);

/** What there is to tell about all of them. */
export interface Totals {
  files: number;
  bytes: number;
  /** Bytes of what has come to its good end, and of what is under way. */
  done: number;
  by: Record<Item["state"], number>;
  running: boolean;
  /** Bytes that were sent a second, over the last seconds. */
  rate: number;
  /** No service answers any of the files that are under way. */
  unanswered: boolean;
  /** For how long nothing has been sent, in seconds, though something is under way. */
  silence: number;
}

class Queue {
  items: Item[] = [];
  /** What came with them, and could not be read: it is told with what became of them. */
  unread: Unread[] = [];
  /** It waits until its owner has signed in again. */
  paused = false;
  private watchers = new Set<() => void>();
  private due = 0;
  private busy = 0;
  private counter = 0;
  /** No item before this one waits. */
  private next = 0;
  private readonly speed = new Speed();

  add(picked: Picked[], set: DataSet, replaces: Agreed | undefined, unread: Unread[]) {
    this.unread.push(...unread);
    for (const p of picked) this.items.push({ id: this.counter++, picked: p, set, replaces, state: "waiting", sent: 0 });
    this.fill();
  }

  /** Goes on when its owner has signed in again. */
  resume() {
    this.paused = false;
    this.fill();
  }

  /** Ends and forgets everything. */
  drop() {
    this.cancel();
    this.clear();
  }

  /** Ends what has not come to its end. What was sent stays. */
  cancel(items = this.items) {
    for (const item of items) {
      if (over(item)) continue;
      item.control?.abort();
      item.state = "cancelled";
      item.sent = 0;
    }
    this.tell();
  }

  retry() {
    for (const item of this.items) {
      if (item.state !== "failed" && item.state !== "cancelled") continue;
      delete item.problem;
      item.state = "waiting";
    }
    this.next = 0;
    this.fill();
  }

  /** Forgets what has come to its end. */
  clear() {
    this.items = this.items.filter((item) => !over(item));
    this.unread = [];
    this.next = 0;
    this.tell();
  }

  totals(): Totals {
    const by = { waiting: 0, comparing: 0, sending: 0, sent: 0, there: 0, failed: 0, cancelled: 0 };
    let bytes = 0;
    let done = 0;
    let unanswered = 0;
    let going = 0;
    for (const item of this.items) {
      by[item.state]++;
      bytes += item.picked.file.size;
      done += item.state === "sent" || item.state === "there" ? item.picked.file.size : item.sent;
      if (item.state !== "sending") continue;
      if (item.unanswered) unanswered++;
      if (item.sent < item.picked.file.size) going++;
    }
    const now = performance.now();
    return {
      files: this.items.length,
      bytes,
      done,
      by,
      running: by.waiting + by.comparing + by.sending > 0,
      rate: this.speed.rate(now),
      unanswered: unanswered > 0 && unanswered === by.sending,
      silence: going > 0 && going === by.sending ? this.speed.silence(now) / 1000 : 0,
    };
  }

  watch(fn: () => void) {
    this.watchers.add(fn);
    return () => void this.watchers.delete(fn);
  }

  private fill() {
    while (!this.paused && this.busy < lanes) {
      while (this.next < this.items.length && this.items[this.next]!.state !== "waiting") this.next++;
      const item = this.items[this.next];
      if (!item) break;
      if (!this.busy) this.speed.begin(performance.now());
      this.busy++;
      void this.process(item).finally(() => {
        this.busy--;
        this.fill();
      });
    }
    this.tell();
  }

  private async process(item: Item) {
    const control = new AbortController();
    item.control = control;
    const { signal } = control;
    const { file, path } = item.picked;
    const to = (state: Item["state"]) => {
      if (item.control === control && !signal.aborted) item.state = state;
      this.tell();
    };
    const at = (sent: number, unanswered = false) => {
      item.sent = sent;
      item.unanswered = unanswered;
      this.tell();
    };
    const options = {
      signal,
      progress: (sent: number) => (this.speed.add(sent - item.sent, performance.now()), at(sent)),
      begins: at,
      unanswered: () => at(item.sent, true),
    };
    try {
      to("comparing");
      const twin = await findTwin(item, signal);
      const heals = twin?.same && twin.resource.damaged;
      if (twin?.same && !heals) {
        item.resource = twin.resource;
        return to("there");
      }
      to("sending");
      item.resource =
        twin && (heals || item.replaces)
          ? await replaceFile(twin.resource.id, heals ? new Set([versionOf(twin.resource)]) : item.replaces!, file, options)
          : await uploadFile({ setId: item.set.id }, file, file.name, { name: path }, options);
      to("sent");
      tellArrival(item.set.id);
    } catch (thrown) {
      item.sent = 0;
      if (signal.aborted) return;
      const problem = await explain(item, asProblem(thrown));
      if (problem.status === 401) {
        this.paused = true;
        this.next = 0;
        return to("waiting");
      }
      item.problem = problem;
      to("failed");
    }
  }

  /** Tells the watchers, at most once a frame; thousands of small files change more often. */
  private tell() {
    this.due ||= requestAnimationFrame(() => {
      this.due = 0;
      for (const fn of this.watchers) fn();
    });
  }
}

/** The newest active resource of the set with that name, and whether it has the same bytes. Only equal lengths are hashed. */
async function findTwin(item: Item, signal: AbortSignal): Promise<{ resource: Resource; same: boolean } | undefined> {
  const { file, path } = item.picked;
  const { items: named } = await sets.resources(item.set.id, { name: path, limit: 1000 }).all(1, signal);
  const equal = named.filter((r) => r.bytes === file.size);
  if (equal.length) {
    const digest = await sha256(file, signal);
    const same = equal.find((r) => r.sha256 === digest);
    if (same) return { resource: same, same: true };
  }
  const last = named[named.length - 1];
  return last && { resource: last, same: false };
}

/** A file that has changed or gone since it was picked fails like a broken connection; saying so helps. */
async function explain(item: Item, problem: Problem): Promise<Problem> {
  if (problem.status !== 0) return problem;
  try {
    await item.picked.file.slice(0, 1).arrayBuffer();
    return problem;
  } catch {
    return new Problem(-1, "file_changed", "The file has changed or gone since it was chosen. Choose it again.");
  }
}

export const queue = new Queue();

const arrived = "labshelf:arrived";

/** Tells that what is in a set or a dataspace has changed here. */
export const tellArrival = (id: string) => void dispatchEvent(new CustomEvent(arrived, { detail: id }));

/** Counts, at most once a second, how often what is in a set or a dataspace has changed here, so that its list can be fetched anew. */
export function useArrivals(id: string): number {
  const [n, setN] = useState(0);
  useEffect(() => {
    let due = 0;
    const tell = (e: Event) => {
      if ((e as CustomEvent).detail !== id || due) return;
      due = setTimeout(() => {
        due = 0;
        setN((k) => k + 1);
      }, 1000);
    };
    addEventListener(arrived, tell);
    return () => {
      clearTimeout(due);
      removeEventListener(arrived, tell);
    };
  }, [id]);
  return n;
}

/** The queue, drawn anew when it changes. */
export function useQueue(): Queue {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  useEffect(() => queue.watch(() => redraw()), []);
  return queue;
}

/** Files that have not come to their end. */
export function running({ items }: Queue): number {
  return items.filter((item) => !over(item)).length;
}

/** Asks the other windows of the browser how many files they are sending, and answers them. */
const windows = new BroadcastChannel(`labshelf uploads${base}`);
windows.addEventListener("message", ({ data }) => {
  const files = running(queue);
  if (data === "how many" && files) windows.postMessage(files);
});

/** How many files the other windows of the browser are sending, as far as they have answered. */
export function useUploadsElsewhere(): number {
  const [files, setFiles] = useState(0);
  useEffect(() => {
    const add = ({ data }: MessageEvent) => void (typeof data === "number" && setFiles((n) => n + data));
    windows.addEventListener("message", add);
    windows.postMessage("how many");
    return () => windows.removeEventListener("message", add);
  }, []);
  return files;
}
