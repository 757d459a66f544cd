// The selected files of a list: single files, a range with Shift, or all.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Listing, Page, Resource } from "../api";
import { useAction } from "../ui/load";

/** The maximum number of files kept in memory. */
const maxSelected = 100_000;

export interface Selected {
  files: ReadonlyMap<string, Resource>;
  /** Selects or deselects a file; with `range` also the files between it and the last click. */
  toggle: (r: Resource, is: boolean, range?: boolean) => void;
  /** Deselects a file; consecutive calls are batched. */
  drop: (r: Resource) => void;
  all: () => void;
  clear: () => void;
  /** Whether all files of the list were selected; `bounded` if the limit was reached. */
  whole: boolean;
  bounded: boolean;
  /** Whether a range or all files are being fetched. */
  fetching: ReturnType<typeof useAction>;
  /** The number of fetched files so far. */
  fetched: number;
  /** Stops fetching and leaves the selection empty. */
  stop: () => void;
}

/** @param list creates the listing that is shown */
export function useSelected(list: () => Listing<Resource>): Selected {
  const [files, setFiles] = useState<ReadonlyMap<string, Resource>>(new Map());
  const [extent, setExtent] = useState({ whole: false, bounded: false });
  const last = useRef<string | undefined>(undefined);
  const latest = useRef<() => Promise<void>>(async () => {});
  const [fetched, setFetched] = useState(0);
  const control = useRef(new AbortController());
  const stop = () => {
    control.current.abort();
    control.current = new AbortController();
  };
  useEffect(() => stop, []);
  /** The files of the list, current and complete; undefined after a stop. */
  const read = async () => {
    const { signal } = control.current;
    const items: Resource[] = [];
    const listing = list();
    let next: string | undefined = listing.first;
    try {
      while (next !== undefined && items.length < maxSelected) {
        setFetched(items.length);
        const page: Page<Resource> = await listing.page(next, signal);
        items.push(...page.items);
        next = page.next;
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
    return signal.aborted ? undefined : { items, complete: next === undefined };
  };
  const change = (of: Resource[], is: boolean) =>
    setFiles((before) => {
      const next = new Map(before);
      for (const r of of) {
        if (is && !r.purged) next.set(r.id, r);
        else next.delete(r.id);
      }
      return next;
    });
  const fetching = useAction(() => latest.current());
  const toggle = (r: Resource, is: boolean, range = false) => {
    const from = last.current;
    last.current = r.id;
    setExtent({ whole: false, bounded: false });
    change([r], is);
    if (!range || !from || from === r.id) return;
    latest.current = async () => {
      const items = (await read())?.items ?? [];
      const ends = [from, r.id].map((id) => items.findIndex((one) => one.id === id)).sort((a, b) => a - b) as [number, number];
      if (ends[0] >= 0) change(items.slice(ends[0], ends[1] + 1), is);
    };
    void fetching.run();
  };
  const dropped = useRef<Resource[]>([]);
  const drop = (r: Resource) => {
    if (dropped.current.push(r) > 1) return;
    queueMicrotask(() => {
      setExtent({ whole: false, bounded: false });
      change(dropped.current.splice(0), false);
    });
  };
  const all = () => {
    latest.current = async () => {
      const found = await read();
      if (!found) return;
      change(found.items.slice(0, maxSelected), true);
      setExtent({ whole: true, bounded: !found.complete });
    };
    void fetching.run();
  };
  const clear = () => {
    last.current = undefined;
    setFiles(new Map());
    setExtent({ whole: false, bounded: false });
  };
  return { files, toggle, drop, all, clear, ...extent, fetching, fetched, stop };
}
