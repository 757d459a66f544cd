// The upload queue of the window. It continues while the user visits other pages.
import { useEffect, useReducer, useState } from "preact/hooks";
import type { DataSet, Resource } from "../api";
import { base, Problem } from "../api";
import { listen } from "../events";
import { asProblem } from "../ui/load";
import { Existing } from "./existing";
import type { Confirmed } from "./replace";
import { replaceFile, versionOf } from "./replace";
import { uploadFile } from "./resumable";
import type { SelectedFile, Unreadable } from "./selection";
import { Speed } from "./speed";

/** Concurrent uploads. Browsers make six connections to a service, one of which is the stream of
    events. */
const concurrency = 4;

/** The maximum size of a small file in bytes. Small files allow one more concurrent upload, because
    they finish soon. */
const small = 1 << 18;

/** The number of files whose names are looked up ahead. */
const maxUpcoming = 100;

/** The pause between two calls of the listeners, in ms: rendering takes longer than sending a small
    file. */
const notifyInterval = 250;

export interface Item {
  /** A sequence number. */
  readonly id: number;
  readonly selected: SelectedFile;
  readonly set: DataSet;
  /** The versions that it can replace. Without them, it becomes another resource with the same
      name. */
  readonly replaces: Confirmed | undefined;
  /** "exists": the set already has the file with the same content. */
  state: "waiting" | "comparing" | "sending" | "sent" | "exists" | "failed" | "cancelled";
  /** Bytes sent so far. */
  sent: number;
  /** The service does not answer; the upload is retried. */
  unanswered?: boolean;
  problem?: Problem;
  resource?: Resource;
  control?: AbortController;
}

export const isFinished = (item: Item) => !["waiting", "comparing", "sending"].includes(item.state);

/** The totals of all items. */
export interface Totals {
  files: number;
  bytes: number;
  /** Bytes of completed files, and bytes sent of the others. */
  done: number;
  by: Record<Item["state"], number>;
  running: boolean;
  /** Bytes sent per second, over the last seconds. */
  rate: number;
  /** The service responds to no running upload. */
  unanswered: boolean;
  /** Seconds since the last sent byte, while uploads are running. */
  silence: number;
}

class Queue {
  items: Item[] = [];
  /** Selected files that could not be read, for the report. */
  unreadable: Unreadable[] = [];
  /** The session has ended: the queue waits until the user signs in again. */
  paused = false;
  private listeners = new Set<() => void>();
  private due = 0;
  private notified = 0;
  private busy = 0;
  private counter = 0;
  /** All items before this index have left the state "waiting". */
  private next = 0;
  private readonly speed = new Speed();
  private readonly existing = new Existing();

  add(files: SelectedFile[], set: DataSet, replaces: Confirmed | undefined, unreadable: Unreadable[]) {
    this.unreadable.push(...unreadable);
    for (const selected of files) this.items.push({ id: this.counter++, selected, set, replaces, state: "waiting", sent: 0 });
    this.fill();
  }

  /** Continues after the user has signed in again. */
  resume() {
    this.paused = false;
    this.fill();
  }

  /** Cancels and removes all items. */
  drop() {
    this.cancel();
    this.clear();
  }

  /** Cancels unfinished items. Completed files stay in the set. */
  cancel(items = this.items) {
    for (const item of items) {
      if (isFinished(item)) continue;
      item.control?.abort();
      item.state = "cancelled";
      item.sent = 0;
    }
    this.notify();
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

  /** Removes finished items. */
  clear() {
    this.items = this.items.filter((item) => !isFinished(item));
    this.unreadable = [];
    this.next = 0;
    this.notify();
  }

  totals(): Totals {
    const by = { waiting: 0, comparing: 0, sending: 0, sent: 0, exists: 0, failed: 0, cancelled: 0 };
    let bytes = 0;
    let done = 0;
    let unanswered = 0;
    let incomplete = 0;
    for (const item of this.items) {
      by[item.state]++;
      bytes += item.selected.file.size;
      done += item.state === "sent" || item.state === "exists" ? item.selected.file.size : item.sent;
      if (item.state !== "sending") continue;
      if (item.unanswered) unanswered++;
      if (item.sent < item.selected.file.size) incomplete++;
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
      silence: incomplete > 0 && incomplete === by.sending ? this.speed.silence(now) / 1000 : 0,
    };
  }

  subscribe(listener: () => void) {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private fill() {
    while (!this.paused) {
      while (this.next < this.items.length && this.items[this.next]!.state !== "waiting") this.next++;
      const item = this.items[this.next];
      if (!item || this.busy >= concurrency + Number(item.selected.file.size <= small)) break;
      if (!this.busy) this.speed.start(performance.now());
      this.busy++;
      void this.process(item).finally(() => {
        this.busy--;
        this.fill();
      });
    }
    this.notify();
  }

  private async process(item: Item) {
    const control = new AbortController();
    item.control = control;
    const { signal } = control;
    const { file, path } = item.selected;
    const setState = (state: Item["state"]) => {
      if (item.control === control && !signal.aborted) item.state = state;
      this.notify();
    };
    const setSent = (sent: number, unanswered = false) => {
      item.sent = sent;
      item.unanswered = unanswered;
      this.notify();
    };
    const options = {
      signal,
      onProgress: (sent: number) => (this.speed.add(sent - item.sent, performance.now()), setSent(sent)),
      onResume: setSent,
      onUnanswered: () => setSent(item.sent, true),
    };
    try {
      setState("comparing");
      const existing = await this.existing.find(item.set.id, item.selected, () => this.upcoming(item.set), signal);
      const repairs = existing?.same && existing.resource.damaged;
      if (existing?.same && !repairs) {
        item.resource = existing.resource;
        return setState("exists");
      }
      setState("sending");
      item.resource =
        existing && (repairs || item.replaces)
          ? await replaceFile(existing.resource.id, repairs ? new Set([versionOf(existing.resource)]) : item.replaces!, file, options)
          : await uploadFile({ setId: item.set.id }, file, file.name, { name: path }, options);
      setState("sent");
      notifyChange(item.set.id);
    } catch (thrown) {
      item.sent = 0;
      if (signal.aborted) return;
      const problem = await explain(item, asProblem(thrown));
      if (problem.status === 401) {
        this.paused = true;
        this.next = 0;
        return setState("waiting");
      }
      item.problem = problem;
      setState("failed");
    }
  }

  /** The names of the next small files for a set. */
  private upcoming(set: DataSet): string[] {
    const names: string[] = [];
    for (const item of this.items.slice(this.next, this.next + maxUpcoming)) {
      if (item.state !== "waiting") continue;
      if (item.set !== set || item.selected.file.size > small) break;
      names.push(item.selected.path);
    }
    return names;
  }

  /** Calls the listeners: immediately after a pause, otherwise at intervals, because thousands of
      small files change more often. */
  private notify() {
    this.due ||= setTimeout(() => {
      this.due = 0;
      this.notified = performance.now();
      for (const listener of this.listeners) listener();
    }, Math.max(0, this.notified + notifyInterval - performance.now()));
  }
}

/** Detects that a file has changed or vanished since it was selected, which otherwise looks like a
    broken connection. */
async function explain(item: Item, problem: Problem): Promise<Problem> {
  if (problem.status !== 0) return problem;
  try {
    await item.selected.file.slice(0, 1).arrayBuffer();
    return problem;
  } catch {
    return new Problem(-1, "file_changed", "The file was changed or removed since it was selected. Select it again.");
  }
}

export const queue = new Queue();

const changed = "labshelf:changed";

/** Announces that this window has changed the content of a set or a dataspace. */
export const notifyChange = (id: string) => void dispatchEvent(new CustomEvent(changed, { detail: id }));

/** Counts the changes that this window has made to a set or a dataspace, at most one a second, so that its list can be refreshed. */
export function useChanges(id: string): number {
  const [n, setN] = useState(0);
  useEffect(() => {
    let due = 0;
    const remove = listen(window, changed, ({ detail }: CustomEvent) => {
      if (detail !== id || due) return;
      due = setTimeout(() => {
        due = 0;
        setN((k) => k + 1);
      }, 1000);
    });
    return () => {
      clearTimeout(due);
      remove();
    };
  }, [id]);
  return n;
}

/** The queue; the component is rendered again when it changes. */
export function useQueue(): Queue {
  const [, redraw] = useReducer((n: number, _: void) => n + 1, 0);
  useEffect(() => queue.subscribe(() => redraw()), []);
  return queue;
}

/** The number of unfinished files. */
export const unfinished = ({ items }: Queue) => items.filter((item) => !isFinished(item)).length;

/** Other windows of the browser answer "how many" with the number of files that they are uploading. */
const windows = new BroadcastChannel(`labshelf uploads${base}`);
windows.addEventListener("message", ({ data }) => {
  const files = unfinished(queue);
  if (data === "how many" && files) windows.postMessage(files);
});

/** The number of files that other windows of the browser are uploading, as far as they have answered. */
export function useUploadsElsewhere(): number {
  const [files, setFiles] = useState(0);
  useEffect(() => {
    const remove = listen(windows, "message", ({ data }: MessageEvent) => void (typeof data === "number" && setFiles((n) => n + data)));
    windows.postMessage("how many");
    return remove;
  }, []);
  return files;
}
