// Dataspaces, sets, files and their versions. Names and fields follow the API reference.
import type { Metadata } from "../describe/metadata";
import type { Revision } from "./http";
import { call, change, id, Listing, type Outline, type Page, pageSize, pathOf, Problem, queryOf, records, root, send } from "./http";
import type * as wire from "./wire";

export type State = wire.State;
export type Role = wire.Role;

interface Tagged {
  /** The ETag of the record; records in listings have none. */
  etag?: string;
}

/** The fields about changes that every record has. */
export interface ChangeFields extends Pick<wire.Set, "state" | "created" | "modified" | "created_epoch" | "modified_epoch" | "createdBy" | "modifiedBy">, Tagged {}

interface Described {
  /** Descriptive metadata; absent if it is empty, and in listings. */
  metadata?: Metadata;
}

/** Who may read a dataspace without a role in it: nobody, every user, or everybody. */
export type Visibility = wire.Visibility;

export interface Dataspace extends Omit<wire.Dataspace, "metadata">, Described, Tagged {}

export interface DataSet extends Omit<wire.Set, "metadata">, Described, Tagged {}

/** A JSON file next to a file, or the header of the file itself. */
export type Extractor = wire.Extract[number];

export interface Resource extends Omit<wire.Resource, "metadata">, Described, Tagged {}

/** A readable file: the file of a resource, or of one of its versions. */
export interface StoredFile extends Pick<Resource, "dataUrl" | "name" | "description" | "filename" | "mimetype" | "bytes" | "sha256"> {
  /** The content of a file in an archive; otherwise bytes are read from the service. */
  content?: Blob;
  /** The set of the file; absent for a file in an archive. */
  setId?: string;
}

/** A state of a resource: the present one, or one before its file was replaced. */
export interface Version extends wire.Version {
  /** Never set. They exist only for files in archives. */
  content?: Blob;
  setId?: string;
}

export interface Counters {
  activeFiles: number;
  activeBytes: number;
  deletedFiles: number;
  deletedBytes: number;
  /** The number of older versions whose files exist. */
  oldVersions: number;
  oldBytes: number;
}

export type Usage = wire.Usage & { quota?: number };

/** The address of the bytes of a file. With `inline` the browser displays safe types. */
export const dataAddress = (of: Pick<StoredFile, "dataUrl">, inline = false) => root + pathOf(of.dataUrl) + (inline ? "?disposition=inline" : "");

export const dataspaces = {
  ...records<Dataspace>("/dataspaces"),
  sets: (did: string, query = {}) => new Listing<DataSet>(`/dataspaces/${id(did)}/sets${queryOf(query)}`),
  resources: (did: string, query = {}) => new Listing<Resource>(`/dataspaces/${id(did)}/resources${queryOf(query)}`),
  usage: (did: string) => call<Usage>("GET", `/dataspaces/${id(did)}/usage`),
};

/** Gives a listing of the files of a set its outline, in pages of 200. */
function outlined<L extends Listing<Resource> | Listing<Entry>>(listing: L): L {
  listing.outline = async (signal) => {
    const [path, query = ""] = listing.first.split("?");
    const all = new URLSearchParams(query);
    all.set("limit", String(pageSize));
    return call<Outline>("GET", `${path}/outline?${all}`, { signal });
  };
  return listing;
}

export const sets = {
  ...records<DataSet>("/sets"),
  resources: (sid: string, query = {}) => outlined(new Listing<Resource>(`/sets/${id(sid)}/resources${queryOf(query)}`)),
  /** The direct content of a folder; "" is the set. */
  level: (sid: string, query = {}) => outlined(new Level(`/sets/${id(sid)}/resources${queryOf({ ...query, delimiter: "/" })}`)),
  /** Applies an action to up to 1,000 files of a set. */
  many: (sid: string, what: ManyFiles, ids: string[]) => call<{ results: ManyResult[] }>("POST", `/sets/${id(sid)}/many`, { body: { ...what, ids } }),
  levelByTime: (sid: string, query: object, newest: boolean, onEnd: (sorted: boolean) => void) => new LevelByTime(`/sets/${id(sid)}/resources${queryOf({ ...query, delimiter: "/" })}`, newest, onEnd),
  /** The address of the zip of a folder. */
  folderArchive: (sid: string, path: string) => `${root}/sets/${id(sid)}/archive${queryOf({ folder: path })}`,
  /** The address of the zip of a set, or of some of its resources. */
  archive: (sid: string, only: string[] = []) =>
    `${root}/sets/${id(sid)}/archive${only.length ? "?" + only.map((rid) => `resource=${id(rid)}`).join("&") : ""}`,
};

/** A folder of the tree derived from names: its path, with a slash at its end. */
export type Folder = { folder: string };

/** An item of a folder. */
export type Entry = Resource | Folder;

export const isFolder = (e: Entry): e is Folder => "folder" in e;

const nameOf = (e: Entry) => (isFolder(e) ? e.folder : e.name);

/** One level of the tree. A level that fits into one page has its folders first; a larger level is
    ordered by name. */
export class Level extends Listing<Entry> {
  override async page(address: string, signal?: AbortSignal) {
    const page = await call<{ data?: Resource[]; folders?: { path: string }[]; nextPage?: string; end: boolean }>("GET", address, signal ? { signal } : {});
    const items: Entry[] = [...(page.folders ?? []).map(({ path }) => ({ folder: path })), ...(page.data ?? [])];
    const query = new URLSearchParams(this.first.split("?")[1]);
    // of the first page only
    const limit = Number(new URLSearchParams(address.split("?")[1]).get("limit"));
    if (items.length >= limit) {
      const sign = query.get("order") === "name-descending" ? -1 : 1;
      items.sort((a, b) => sign * (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
    }
    return { items, next: page.end || !page.nextPage ? undefined : pathOf(page.nextPage) };
  }
}

/** The entries of a level that the page sorts. */
const maxSorted = 2000;

/** One level of the tree by time, folders first. No index has that order within a folder, so the
    page sorts a level of up to 2,000 entries. A larger level is ordered by name. */
export class LevelByTime extends Listing<Entry> {
  private readonly level: Level;

  /** @param onEnd receives whether the level is in this order */
  constructor(
    first: string,
    private readonly newest: boolean,
    private readonly onEnd: (sorted: boolean) => void,
  ) {
    super(first);
    this.level = new Level(first);
  }

  override async page(address: string, signal?: AbortSignal) {
    // of a level that is too large
    if (!address.startsWith(this.first)) return this.level.page(address, signal);
    const items: Entry[] = [];
    const page = await this.level.page(address, signal);
    let next = page.next;
    items.push(...page.items);
    while (next !== undefined && items.length <= maxSorted) {
      const more: Page<Entry> = await this.level.page(next, signal);
      items.push(...more.items);
      next = more.next;
    }
    const sorted = next === undefined && items.length <= maxSorted;
    this.onEnd(sorted);
    if (!sorted) return page;
    const sign = this.newest ? -1 : 1;
    // ids follow the order of creation, with a finer resolution
    const at = (r: Resource) => `${String(r.modified_epoch).padStart(15, "0")} ${r.id}`;
    const files = items.filter((e): e is Resource => !isFolder(e)).sort((a, b) => sign * (at(a) < at(b) ? -1 : 1));
    return { items: [...items.filter(isFolder), ...files], next: undefined };
  }
}

/** How much is in a folder; `bounded`: there is more, and both are lower bounds. */
export type FolderSize = wire.FolderSize;

/** The result of a change of a folder, and where the folder is. */
export type FolderChange = wire.FolderChange;

/** An action on many files of a set. */
export type ManyFiles = Omit<wire.ManyFiles, "ids">;

/** The result for one of many files; `code` and `detail` say why it was refused. */
export type ManyResult = wire.ManyResult;

const changeFolder = (what: string) => (sid: string, body: { path: string; toPath?: string; setId?: string }) =>
  call<FolderChange>("POST", `/sets/${id(sid)}/folder${what}`, { body });

export const folders = {
  size: (sid: string, path: string, signal?: AbortSignal) => call<FolderSize>("GET", `/sets/${id(sid)}/folder${queryOf({ path })}`, signal ? { signal } : {}),
  create: changeFolder(""),
  copy: changeFolder("/copy"),
  move: changeFolder("/move"),
  remove: changeFolder("/delete"),
  /** Undoes a deletion. */
  restore: ({ setId, path, deletion, createdFolders }: FolderChange) =>
    call<FolderChange>("POST", `/sets/${id(setId)}/folder/restore`, { body: { path, ...(deletion && { deletion }), ...(createdFolders && { createdFolders }) } }),
};

/** The destination of a file; absent fields do not change. */
type Destination = wire.Destination;

export const resources = {
  ...records<Resource>("/resources", "PATCH"),
  copy: (of: Revision, to: Destination) => change<Resource>("POST", `/resources/${id(of.id)}/copy`, of, to),
  move: (of: Revision, to: Destination) => change<Resource>("POST", `/resources/${id(of.id)}/move`, of, to),
};

const versionPath = (rid: string, version: number | string) => `/resources/${id(rid)}/versions/${id(String(version))}`;

export const versions = {
  /** Newest first. */
  list: (rid: string) => new Listing<Version>(`/resources/${id(rid)}/versions`),
  get: (rid: string, version: number | string) => call<Version>("GET", versionPath(rid, version)),
  /** Restores a version as a new version. */
  restore: (of: Revision, version: number) => change<Resource>("POST", `${versionPath(of.id, version)}/restore`, of, undefined),
  /** An empty label removes the label. */
  label: (rid: string, version: number, label: string) => call<Version>("PUT", `${versionPath(rid, version)}/label`, { body: { label } }),
  /** Permanently removes the bytes of a version. */
  erase: (rid: string, version: number) => call<Version>("DELETE", `${versionPath(rid, version)}/data`),
};

const interrupted = new Problem(0, "cut_off", "The download was interrupted.");

/** Converts an error while a body is read to a Problem. */
function received<T>(body: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return body.catch((cause) => {
    throw signal?.aborted ? cause : interrupted;
  });
}

/** Fetches at most `length` bytes of a file from `start`. Throws a Problem (412) if the file was replaced since the record was loaded. */
export async function range(of: Pick<StoredFile, "dataUrl" | "sha256" | "content">, start: number, length: number, signal?: AbortSignal): Promise<ArrayBuffer> {
  if (of.content) return of.content.slice(start, start + length).arrayBuffer();
  const headers = { Range: `bytes=${start}-${start + length - 1}`, "If-Match": `"sha256-${of.sha256}"` };
  const answer = await send("GET", pathOf(of.dataUrl), signal ? { headers, signal } : { headers });
  return received(answer.arrayBuffer(), signal);
}

/**
 * Fetches a whole file with its type. Throws a Problem (412) if it was replaced, as range does. A condition in the request would bypass
 * the browser's cache, so the ETag of the answer is compared.
 */
export async function download(of: Pick<StoredFile, "dataUrl" | "sha256" | "content">, signal?: AbortSignal): Promise<Blob> {
  if (of.content) return of.content;
  const answer = await send("GET", pathOf(of.dataUrl), signal ? { signal } : {});
  if (!answer.headers.get("ETag")?.includes(of.sha256)) {
    await answer.body?.cancel();
    throw new Problem(412, "precondition_failed", "The file is not the one of the record.");
  }
  return received(answer.blob(), signal);
}
