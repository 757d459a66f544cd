// The files of a set: one folder of the tree derived from names, or all files in one list.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Entry, Listing, Resource } from "../api";
import { isFolder, queryOf, sets } from "../api";
import { useSelected } from "../edit/selected";
import { count } from "../format";
import { useKey } from "../keyboard/keys";
import { setQuery, useLocation } from "../router";
import { Button, Empty, ErrorMessage, ViewSwitch } from "../ui/components";
import type { States } from "../ui/filters";
import { between, Choice, FilterBar, oneOf, StateChoice, TimeFilters, timeOrders, timesOf } from "../ui/filters";
import { Lazy } from "../ui/lazy";
import { VirtualList } from "../ui/list";
import { factsOf, ForPrograms } from "../ui/programs";
import { Arranged, renameFocused } from "./arrange";
import { entryColumns } from "./columns";
import { FolderBar } from "./folder";
import { ListMenu, useListView } from "./view";

const loadBar = () => import("../edit/selection").then((m) => m.SelectionBar);

interface FilesProps {
  set: DataSet;
  mayWrite: boolean;
  /** Changes when files may have been added or removed. */
  changes: number;
  /** The ids of incomplete files. */
  incomplete: ReadonlySet<string>;
  offered: States;
}

/** The storage key of the choice between folders and one list. */
const storageKey = "labshelf.files";

const views = ["folders", "all files"] as const;

export function Files({ set, mayWrite, changes, incomplete, offered }: FilesProps) {
  const sid = set.id;
  const { query } = useLocation();
  const [view, setView] = useState<(typeof views)[number]>(localStorage.getItem(storageKey) === "all files" ? "all files" : "folders");
  const folder = query.get("folder") ?? "";
  const prefix = query.get("prefix") ?? "";
  const asked = oneOf(query, "order", ["name", "name-descending", "newest", "oldest"]);
  const order = prefix && !asked.startsWith("name") ? "name" : asked;
  const byName = order.startsWith("name");
  const tree = byName && !prefix && view === "folders";
  /** The files of one folder by time; for the set, all files. */
  const timed = !byName && !!folder && view === "folders";
  const [sorted, setSorted] = useState(true);
  const filters = {
    state: oneOf(query, "state", offered),
    // A prefix implies the order by name, which the service does not combine with times.
    ...(byName ? { order: prefix && order === "name" ? "" : order, namePrefix: prefix || folder } : { order: order === "newest" ? "newest" : "", ...timesOf(query) }),
  };
  const files = (more = {}) => sets.resources(sid, { ...filters, ...(tree && { delimiter: "/" }), ...more });
  const ofFolder = { state: filters.state, namePrefix: folder };
  const list = (): Listing<Entry> => (tree ? sets.level(sid, filters) : timed ? sets.levelByTime(sid, ofFolder, order === "newest", setSorted) : files());
  const change = (to: (typeof views)[number]) => {
    localStorage.setItem(storageKey, to);
    setView(to);
  };
  const [looks, setLooks] = useListView();
  // loaded early, so that the first selection moves rows only once
  useEffect(() => void loadBar().catch(() => {}), []);
  const selected = useSelected(() => (timed ? sets.resources(sid, { ...ofFolder, delimiter: "/", limit: 1000 }) : files({ limit: 1000 })));
  const listed = (r: Resource) =>
    (filters.state === "all" || filters.state === r.state) && r.name.startsWith(prefix || folder) && !((tree || timed) && r.name.includes("/", folder.length)) && (byName || timed || between(timesOf(query), r.modified));
  const around = mayWrite ? (e: Entry, name: ComponentChildren) => (isFolder(e) || e.state === "active" ? <Arranged set={set} of={e} selected={selected.files}>{name}</Arranged> : name) : undefined;
  useKey("F2", "rename the file or folder", mayWrite ? () => renameFocused(selected.files) : undefined);
  return (
    <>
      <FilterBar>
        <ViewSwitch views={views} view={(byName && !prefix) || timed ? view : "all files"} onChange={(to) => (setQuery({ prefix: "", ...(!byName && { order: "", since: "", until: "" }) }), change(to))} />
        <Choice
          label="Order"
          name="order"
          options={[["name", "by name"], ["name-descending", "by name, descending"], ...[...timeOrders].reverse()]}
          clears={["prefix", "since", "until", ...(view === "folders" ? [] : ["folder"])]}
        />
        {byName ? <Prefix /> : !timed && <TimeFilters />}
        <StateChoice offered={offered} />
        <ListMenu view={looks} onChange={setLooks} />
        <ForPrograms facts={factsOf(set, "set")} path={`/sets/${sid}/resources${queryOf({ ...filters, ...(tree && { delimiter: "/" }) })}`} />
      </FilterBar>
      {(tree || timed || (folder && byName && !prefix)) && <FolderBar set={set} path={folder} mayWrite={mayWrite} changes={changes} />}
      {timed && !sorted && <p class="dim">This folder has more than 2,000 entries, so they are sorted by name. To sort by time, list all files of the set.</p>}
      {selected.fetching.problem && <ErrorMessage problem={selected.fetching.problem} retry={selected.fetching.run} />}
      {selected.fetching.busy && (
        <div class="note" role="status">
          <div>Selecting {selected.fetched > 0 && `more than ${count(selected.fetched)} files`} …</div>
          <Button onClick={selected.stop}>Stop</Button>
        </div>
      )}
      {selected.files.size > 0 && (
        <Lazy
          load={loadBar}
          props={{ set, selected: [...selected.files.values()], bounded: selected.bounded, mayWrite, listed, deselect: selected.drop, clear: selected.clear }}
          lines={1}
        />
      )}
      <VirtualList<Entry>
        id={sid + tree + (timed ? folder : "") + queryOf(filters)}
        version={changes}
        create={list}
        keyOf={(e) => (isFolder(e) ? e.folder : e.id)}
        label="Files"
        noun={tree || timed ? ["entry", "entries"] : ["file", "files"]}
        kind="selectable"
        comfortable={looks.comfortable}
        order={{ by: byName ? "name" : "time", descending: order === "name-descending" || order === "newest", below: tree ? folder : prefix ? "" : folder }}
        columns={[
          {
            width: "20px",
            head: (
              <input
                type="checkbox"
                aria-label="Select all files of the list"
                title="Select all files of the list; with Shift a click selects a range"
                checked={selected.whole}
                disabled={selected.fetching.busy}
                onChange={(e) => (e.currentTarget.checked ? selected.all() : selected.clear())}
              />
            ),
            cell: (r) =>
              isFolder(r) ? null : (
                <input
                  type="checkbox"
                  aria-label={`Select ${r.name}`}
                  checked={selected.files.has(r.id)}
                  disabled={!!r.purged}
                  onClick={(e) => selected.toggle(r, e.currentTarget.checked, e.shiftKey)}
                />
              ),
          },
          ...entryColumns({ set, incomplete, below: tree || timed ? folder : "", changes, order, keepsFolder: view === "folders", shown: looks.columns, around }),
        ]}
        empty={
          <Empty icon="file" title={emptyTitle(!!prefix || filters.state !== offered[0] || [...query.keys()].some((k) => k !== "folder"), folder)}>
            {mayWrite && <p>Drop files or a whole folder anywhere on this page.</p>}
          </Empty>
        }
      />
    </>
  );
}

const emptyTitle = (filtered: boolean, folder: string) => (filtered ? "No matches" : folder ? "This folder is empty" : "This set is empty");

/** The delay after the last keystroke before the list is filtered, in ms. */
const debounce = 250;

/** Filters by the beginning of names. The service searches all names of the set, or of the folder
    and its subfolders. */
function Prefix() {
  const { query } = useLocation();
  const folder = query.get("folder") ?? "";
  const prefix = query.get("prefix") ?? "";
  const value = prefix.startsWith(folder) ? prefix.slice(folder.length) : prefix;
  const input = useRef<HTMLInputElement>(null);
  const due = useRef(0);
  useEffect(() => {
    if (input.current!.value !== value && !due.current) input.current!.value = value;
  }, [value]);
  useEffect(() => () => clearTimeout(due.current), []);
  const apply = () => {
    clearTimeout(due.current);
    due.current = 0;
    const typed = input.current!.value;
    setQuery({ prefix: typed && folder + typed, order: "" });
  };
  const type = () => {
    clearTimeout(due.current);
    due.current = setTimeout(apply, debounce);
  };
  return (
    <label>
      Name begins with
      <input ref={input} type="search" spellcheck={false} onInput={type} onChange={apply} />
    </label>
  );
}
