// The columns of the list of files, which can contain folders.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { DataSet, Entry, Folder, FolderSize } from "../api";
import { folders, isFolder } from "../api";
import { plural, size } from "../format";
import { Link, setQuery, useLocation } from "../router";
import { Icon } from "../ui/icons";
import type { Column } from "../ui/list";
import { resourceColumnsOf } from "../ui/resources";
import type { Optional } from "./view";
import { optional } from "./view";

interface Options {
  set: DataSet;
  incomplete: ReadonlySet<string>;
  /** The path of the shown folder. */
  below: string;
  /** Changes when counts may have changed. */
  changes: number;
  order: string;
  /** Whether sorting by time keeps the folder open. */
  keepsFolder: boolean;
  /** The shown columns in addition to the name. */
  shown: Optional[];
  /** Wraps a name, such as with the control that renames it. */
  around?: ((e: Entry, name: ComponentChildren) => ComponentChildren) | undefined;
}

/** The address of a folder in the pages. */
export const folderAddress = (sid: string, path: string, state = "") =>
  `/sets/${sid}${path || state ? "?" : ""}${new URLSearchParams({ ...(path && { folder: path }), ...(state && { state }) })}`;

export function entryColumns({ set, incomplete, below, changes, order, keepsFolder, shown, around }: Options): Column<Entry>[] {
  const cells: Record<string, (f: Folder) => ComponentChildren> = {
    File: (f) => <FolderLink sid={set.id} folder={f} below={below} />,
    Size: (f) => <Contents sid={set.id} path={f.folder} changes={changes} />,
  };
  const sorts: Record<string, [up: string, down: string]> = { File: ["", "name-descending"], Changed: ["oldest", "newest"] };
  return resourceColumnsOf(incomplete, below).filter(({ head }) => head === "File" || shown.includes(head as Optional)).map(({ head, title, cell, cellClass, sort: _, ...column }) => {
    const label = String(head);
    const by = sorts[label];
    const at = by?.indexOf(order === "name" ? "" : order) ?? -1;
    return {
      ...column,
      width: label === "File" ? "minmax(200px, 3fr)" : optional[label as Optional],
      head: by ? <SortHead label={label === "File" ? "Name" : label} to={at === 0 ? by[1] : at === 1 ? by[0] : label === "File" ? by[0] : by[1]} descending={at < 0 ? undefined : at === 1} keepsFolder={keepsFolder} /> : head,
      ...(by && { sort: at < 0 ? ("none" as const) : at === 0 ? ("ascending" as const) : ("descending" as const) }),
      title: (e: Entry) => (isFolder(e) ? (label === "File" ? e.folder : "") : (title?.(e) ?? "")),
      cellClass: (e: Entry) => (isFolder(e) ? "dim" : typeof cellClass === "function" ? cellClass(e) : (cellClass ?? "")),
      cell: (e: Entry) => {
        const shown = isFolder(e) ? cells[label]?.(e) : cell(e);
        return label === "File" && around ? around(e, shown) : shown;
      },
    };
  });
}

/** A header that sorts the list. */
function SortHead({ label, to, descending, keepsFolder }: { label: string; to: string; descending: boolean | undefined; keepsFolder: boolean }) {
  return (
    <button type="button" class="sort" onClick={() => setQuery({ order: to, ...(label === "Name" ? { since: "", until: "" } : { prefix: "", ...(!keepsFolder && { folder: "" }) }) })}>
      {label} {descending !== undefined && <Icon name={descending ? "down" : "up"} />}
    </button>
  );
}

function FolderLink({ sid, folder: { folder }, below }: { sid: string; folder: Folder; below: string }) {
  const { query } = useLocation();
  return (
    <span class="named">
      <Link to={folderAddress(sid, folder, query.get("state") ?? "")}>
        <Icon name="folder" /> {folder.slice(below.length, -1) || "/"}
      </Link>
    </span>
  );
}

/** The delay before a folder is counted, in ms: rows that are scrolled past are not counted. */
const pause = 150;

/** The size of a folder, which loads after the row. */
export function useFolderSize(sid: string, path: string, changes: number): FolderSize | undefined {
  const [found, setFound] = useState<FolderSize | undefined>();
  useEffect(() => {
    const control = new AbortController();
    // the row is usable without a size
    const due = setTimeout(() => folders.size(sid, path, control.signal).then(setFound, () => setFound(undefined)), pause);
    return () => (clearTimeout(due), control.abort());
  }, [sid, path, changes]);
  return found?.path === path ? found : undefined;
}

const bound = (f: FolderSize, text: string) => (f.bounded ? `${text}+` : text);

/** "12 files, 3 MB"; for a partly counted folder, "10,000+ files". */
export const contentsOf = (f: FolderSize) => (f.bounded ? `${f.files.toLocaleString("en")}+ files, ${size(f.bytes)}+` : `${plural(f.files, "file", "files")}, ${size(f.bytes)}`);

function Contents({ sid, path, changes }: { sid: string; path: string; changes: number }) {
  const found = useFolderSize(sid, path, changes);
  return found ? <span title={contentsOf(found)}>{bound(found, size(found.bytes))}</span> : null;
}
