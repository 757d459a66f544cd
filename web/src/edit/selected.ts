// Which files of a list are selected: one by one, a range with Shift, or all of them.
import { useRef, useState } from "preact/hooks";
import type { Listing, Resource } from "../api";
import { useAction } from "../ui/load";

/** As many files as one bulk edit may change. */
const maxSelected = 20_000;

export interface Selected {
  files: ReadonlyMap<string, Resource>;
  /** Selects a file or not; with `range` also those between it and the last one that was clicked. */
  toggle: (r: Resource, is: boolean, range?: boolean) => void;
  all: () => void;
  clear: () => void;
  /** All files of the list were selected; `bounded` if there are more than can be. */
  whole: boolean;
  bounded: boolean;
  /** Files between, or all of them, are being fetched. */
  fetching: ReturnType<typeof useAction>;
}

/** @param list creates the listing that is shown */
export function useSelected(list: () => Listing<Resource>): Selected {
  const [files, setFiles] = useState<ReadonlyMap<string, Resource>>(new Map());
  const [extent, setExtent] = useState({ whole: false, bounded: false });
  const last = useRef<string | undefined>(undefined);
  const latest = useRef<() => Promise<void>>(async () => {});
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
      const { items } = await list().all(maxSelected);
      const ends = [from, r.id].map((id) => items.findIndex((one) => one.id === id)).sort((a, b) => a - b) as [number, number];
      if (ends[0] >= 0) change(items.slice(ends[0], ends[1] + 1), is);
    };
    void fetching.run();
  };
  const all = () => {
    latest.current = async () => {
      const { items, complete } = await list().all(maxSelected);
      change(items.slice(0, maxSelected), true);
      setExtent({ whole: true, bounded: !complete });
    };
    void fetching.run();
  };
  const clear = () => {
    last.current = undefined;
    setFiles(new Map());
    setExtent({ whole: false, bounded: false });
  };
  return { files, toggle, all, clear, ...extent, fetching };
}
