// The client of the service: its public interface, called with the session cookie. Names and fields are those of the interface reference.
import type { Metadata } from "./describe/metadata";
import { parse } from "./describe/metadata";

/** The base path of the service, such as "" or "/shelf"; the shell contains it. */
export const base = document.documentElement.dataset.base ?? "";

/** The path of the interface, such as /v1. */
export const root = `${base}/v1`;

export type State = "active" | "deleted";
export type Role = "member" | "editor" | "admin";

/** The fields about changes that every record has. */
interface ChangeFields {
  state: State;
  created: string;
  modified: string;
  created_epoch: number;
  modified_epoch: number;
  createdBy: string;
  modifiedBy: string;
  /** The ETag of the record; records in listings have none. */
  etag?: string;
}

interface Described {
  /** What people say about it; absent where nothing is said, and in listings. */
  metadata?: Metadata;
}

export interface Dataspace extends ChangeFields, Described {
  id: string;
  url: string;
  name: string;
  title: string;
  description: string;
  visibility: "private" | "public";
  origin: string;
  /** Which versions of files a purge keeps: "everything", "last 5", "90 days". */
  retention: string;
}

export interface DataSet extends ChangeFields, Described {
  id: string;
  url: string;
  name: string;
  title: string;
  description: string;
  dataspaceId: string;
}

export interface Resource extends ChangeFields, Described {
  id: string;
  url: string;
  dataUrl: string;
  viewDataUrl: string;
  name: string;
  description: string;
  format: string;
  mimetype: string;
  /** In units of 1,024 bytes, rounded; `bytes` is exact. */
  size: number;
  bytes: number;
  sha256: string;
  filename: string;
  setId: string;
  dataspaceId: string;
  /** The number of the current version, from 1. */
  version: number;
  /** The bytes were removed for good; only the record is left. */
  purged?: boolean;
  /** The service knows that the file is damaged. An upload of the same bytes repairs it. */
  damaged?: boolean;
}

/** A file that can be read: that of a resource, or of one of its versions. */
export type StoredFile = Pick<Resource, "dataUrl" | "name" | "description" | "filename" | "mimetype" | "bytes" | "sha256">;

/** What a resource is, or was before its file was replaced. */
export interface Version extends StoredFile {
  /** From 1. */
  version: number;
  resourceId: string;
  format: string;
  /** When its file came, and from whom. */
  created: string;
  createdBy: string;
  /** With a label it is kept whatever the retention of the dataspace says; "" if it has none. */
  label: string;
  /** It is the version that the resource is in. */
  current: boolean;
  /** When the file was removed, and by which rule; unset while it is there. */
  removed?: string;
  rule?: string;
  /** The sysadmin who erased it. */
  removedBy?: string;
  /** The service knows that the file is damaged. */
  damaged?: boolean;
  /** In the answer to erase: something else has the same bytes, which stay for that. */
  shared?: boolean;
}

export interface User {
  id: string;
  url: string;
  username: string;
  fullname: string;
  about: string;
  /** Only in answers to sysadmins and to the user itself. */
  sysadmin?: boolean;
  state: State;
  /** The ETag of the record; records in listings have none. */
  etag?: string;
}

export interface Key {
  id: string;
  label: string;
  prefix: string;
  created: string;
  expires: string;
  lastUsed: string;
  state: "active" | "revoked" | "expired";
  /** The secret: only in the answer to its creation. */
  key?: string;
}

export interface Privilege {
  id: string;
  userId: string;
  dataspaceId: string;
  role: Role;
  state: State;
}

export interface Counters {
  activeFiles: number;
  activeBytes: number;
  deletedFiles: number;
  deletedBytes: number;
  /** Versions before the current ones whose files are there. */
  oldVersions: number;
  oldBytes: number;
}

export interface Usage extends Counters {
  days: (Counters & { day: string })[];
  dataspaces?: (Counters & { dataspaceId: string })[];
}

/** A value that was changed, or what it is now if there was none before. */
export type Changed = string | { before: string; now: string };

/** An entry of the audit log. What it does not say is absent. */
export interface AuditEntry {
  number: number;
  time: string;
  /** Such as resource.replace. */
  action: string;
  /** Unset for an operator with the data directory, or the service itself. */
  userId?: string;
  keyId?: string;
  requestId?: string;
  /** The number of the entry of which this is a consequence. */
  cause?: number;
  objectKind?: "dataspace" | "set" | "resource" | "user" | "key" | "webhook" | "schema" | "edit";
  objectId?: string;
  /** The user who has the role or the key. */
  subjectId?: string;
  bytes?: number;
  version?: number;
  values?: Record<string, Changed | number>;
  texts?: Record<string, Changed>;
  address?: string;
  /** Texts or the address were erased. */
  erased?: true;
}

/** A signed head of the audit log, and the public key of its signature. */
export interface AuditHead {
  size: number;
  head: string;
  key: string;
}

/** Sends a message for each change. What it does not say is absent. */
export interface Webhook {
  id: string;
  url: string;
  label: string;
  /** Unset if it hears of all changes of the service. */
  dataspaceId?: string;
  /** Such as resource.create or resource.*; none stand for everything. */
  events: string[];
  state: "active" | "paused";
  /** The user who changed or resumed it last, for whom it acts. */
  modifiedBy: string;
  reason?: "failed" | "gone" | "role_lost" | "restored";
  /** The reason in detail. */
  because?: string;
  paused?: string;
  /** The first entry of the audit log that it has not dealt with. */
  position: number;
  deliveries: number;
  /** How often the message that waits was tried. */
  tries: number;
  nextTry?: string;
  formerSecretUntil?: string;
  /** Only in the answers to its creation and to rotate. */
  secret?: string;
}

/** A message of a webhook, and what came of its last try. */
export interface Delivery {
  number: number;
  messageId: string;
  /** The number in the audit log. */
  entry: number;
  event: string;
  state: "delivered" | "failed" | "skipped";
  tries: number;
  first: string;
  last: string;
  /** 0 if no answer came. */
  status: number;
  milliseconds: number;
  error?: string;
  /** The beginning of the answer. */
  answer?: string;
}

/** An error answer of the service; status 0 stands for no answer. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly field = "",
  ) {
    super(detail);
  }
}

/** Called when an answer shows that the session has ended. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(callback: () => void) {
  onSignedOut = callback;
}

/** Parses the body of an error answer. */
export function problemOf(status: number, text: string): Problem {
  try {
    const p = JSON.parse(text);
    if (typeof p.detail === "string") return new Problem(status, p.code ?? "", p.detail, p.field ?? "");
  } catch {
    // not from the service, such as the page of a proxy
  }
  return new Problem(status, "", `The service answered ${status} without an explanation.`);
}

/** The problem of a request that was not made with send; reports the end of the session. */
export function failureOf(status: number, text: string): Problem {
  if (status === 401) onSignedOut();
  return problemOf(status, text);
}

export const unreachable = new Problem(0, "unreachable", "The service cannot be reached. It may be restarting, or the network is down.");

interface Options {
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** Sends a request and returns the answer if it is a success, else throws a Problem (or the reason of the signal). */
export async function send(method: string, path: string, { body, signal, headers }: Options = {}): Promise<Response> {
  const init: RequestInit = { method, headers: { ...headers }, credentials: "same-origin" };
  if (signal) init.signal = signal;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "Content-Type": "application/json", ...headers };
  }
  let answer: Response;
  try {
    answer = await fetch(root + path, init);
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw unreachable;
  }
  if (answer.ok) return answer;
  if (answer.status === 401 && path !== "/session") onSignedOut();
  throw problemOf(answer.status, await answer.text());
}

async function call<T>(method: string, path: string, options?: Options): Promise<T> {
  const answer = await send(method, path, options);
  return answer.status === 204 ? (undefined as T) : answer.json();
}

/** Sends a request whose answer is a record, and returns it with its ETag. */
async function record<T>(method: string, path: string, options?: Options): Promise<T> {
  const answer = await send(method, path, options);
  const etag = answer.headers.get("ETag")?.replace(/^W\//, ""); // a proxy that compresses makes it weak; the service knows strong ones only
  const text = await answer.text();
  const value = JSON.parse(text);
  if (value.metadata) value.metadata = (parse(text) as Described).metadata;
  return { ...value, ...(etag && { etag }) };
}

/** A record and the ETag that a request applies to; without one it applies to the record as it is. */
export type Revision = { id: string; etag?: string };

/** Changes a record; the service refuses (412) if it has changed since that ETag. */
const change = <T>(method: string, path: string, of: Revision, body: unknown) =>
  record<T>(method, path, of.etag ? { body, headers: { "If-Match": of.etag } } : { body });

/** The query string of the values that are set: the service refuses empty ones. */
export function queryOf(values: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** The path of a URL that the service gave, below the root of the interface. The service may have another public address (base_url). */
function pathOf(url: string): string {
  const path = new URL(url).pathname;
  return path.slice(path.indexOf("/v1/") + 3);
}

/** The address of the bytes of a file; with `inline` the browser shows types that are safe. */
export const dataAddress = (of: Pick<StoredFile, "dataUrl">, inline = false) => root + pathOf(of.dataUrl) + (inline ? "?disposition=inline" : "");

/** One page of a listing. */
export interface Page<T> {
  items: T[];
  /** The address of the next page; undefined at the end. */
  next: string | undefined;
}

/** The pages of a listing, in the order of the service. */
export class Listing<T> {
  /**
   * @param first the address of the first page with its query, such as /sets/ID/resources?order=newest
   * @param onPage gets what else a page says, such as the counts of a search
   */
  constructor(
    readonly first: string,
    private readonly onPage: (page: object) => void = () => {},
  ) {}

  /** Fetches a page: the first one, or the `next` of another one. A page can be fetched again. */
  async page(address: string, signal?: AbortSignal): Promise<Page<T>> {
    const page = await call<{ data?: T[]; nextPage?: string; end: boolean }>("GET", address, signal ? { signal } : {});
    this.onPage(page);
    if (page.end || !page.nextPage) return { items: page.data ?? [], next: undefined };
    return { items: page.data ?? [], next: pathOf(page.nextPage) };
  }

  /** Fetches pages until the end or until there are `bound` items; `complete` is whether these are all. */
  async all(bound: number, signal?: AbortSignal): Promise<{ items: T[]; complete: boolean }> {
    const items: T[] = [];
    let next: string | undefined = this.first;
    while (next !== undefined && items.length < bound) {
      const page: Page<T> = await this.page(next, signal);
      items.push(...page.items);
      next = page.next;
    }
    return { items, complete: next === undefined };
  }
}

const id = encodeURIComponent;

export const session = {
  signIn: (key: string) => call<{ username: string; sysadmin: boolean }>("POST", "/session", { body: { key } }),
  signOut: () => call<void>("DELETE", "/session"),
  me: () => record<User>("GET", "/users/me"),
  /** The user of a key. The session stays as it is. */
  async userOf(key: string): Promise<User> {
    const answer = await fetch(`${root}/users/me`, { headers: { Authorization: key }, credentials: "omit" }).catch(() => {
      throw unreachable;
    });
    if (!answer.ok) throw problemOf(answer.status, await answer.text());
    return answer.json();
  },
};

/** The requests that all kinds of records share. */
const records = <T>(path: string, method: "PUT" | "PATCH" = "PUT") => ({
  list: (query = {}) => new Listing<T>(path + queryOf(query)),
  get: (rid: string) => record<T>("GET", `${path}/${id(rid)}`),
  create: (fields: Partial<T>) => record<T>("POST", path, { body: fields }),
  edit: (of: Revision, fields: Partial<T>) => change<T>(method, `${path}/${id(of.id)}`, of, fields),
  /** Changes the descriptive metadata by a merge patch (RFC 7396). */
  describe: (of: Revision, metadata: object) => change<T>(method, `${path}/${id(of.id)}`, of, { metadata }),
  remove: (rid: string) => call<void>("DELETE", `${path}/${id(rid)}`),
  restore: (rid: string) => record<T>("POST", `${path}/${id(rid)}/restore`),
});

export const dataspaces = {
  ...records<Dataspace>("/dataspaces"),
  sets: (did: string, query = {}) => new Listing<DataSet>(`/dataspaces/${id(did)}/sets${queryOf(query)}`),
  resources: (did: string, query = {}) => new Listing<Resource>(`/dataspaces/${id(did)}/resources${queryOf(query)}`),
  usage: (did: string) => call<Usage>("GET", `/dataspaces/${id(did)}/usage`),
};

export const sets = {
  ...records<DataSet>("/sets"),
  resources: (sid: string, query = {}) => new Listing<Resource>(`/sets/${id(sid)}/resources${queryOf(query)}`),
  /** The address of the zip of a set, or of some of its resources. */
  archive: (sid: string, only: string[] = []) =>
    `${root}/sets/${id(sid)}/archive${only.length ? "?" + only.map((rid) => `resource=${id(rid)}`).join("&") : ""}`,
};

export const resources = records<Resource>("/resources", "PATCH");

/** Something that was found. */
export type Hit = { matched: string[] } & ({ kind: "dataspace"; record: Dataspace } | { kind: "set"; record: DataSet } | { kind: "resource"; record: Resource });

/** How many hits have a value; `name` is that of a dataspace. */
export interface Count {
  value: string | number;
  name?: string;
  count: number;
}

/** What a page of hits says of all of them: `total` and `counts` only the first one, where there are hits. */
export interface Found {
  total?: number;
  counts?: Record<"kinds" | "dataspaces" | "tags" | "creators" | "years", Count[]>;
  /** How many changes the index of the search has not followed yet. */
  behind?: number;
}

export const search = {
  list: (query: { q: string; order?: string }, onPage: (page: Found) => void) => new Listing<Hit>(`/search${queryOf({ ...query, counts: "true" })}`, onPage),
};

const versionPath = (rid: string, version: number | string) => `/resources/${id(rid)}/versions/${id(String(version))}`;

export const versions = {
  /** The newest first. */
  list: (rid: string) => new Listing<Version>(`/resources/${id(rid)}/versions`),
  get: (rid: string, version: number | string) => call<Version>("GET", versionPath(rid, version)),
  /** Makes what the resource was in a version a new version. */
  restore: (of: Revision, version: number) => change<Resource>("POST", `${versionPath(of.id, version)}/restore`, of, undefined),
  /** An empty label removes it. */
  label: (rid: string, version: number, label: string) => call<Version>("PUT", `${versionPath(rid, version)}/label`, { body: { label } }),
  /** Removes the bytes of a version for good. */
  erase: (rid: string, version: number) => call<Version>("DELETE", `${versionPath(rid, version)}/data`),
};

/** The newest first. */
export const audit = {
  list: (query = {}) => new Listing<AuditEntry>(`/audit${queryOf(query)}`),
  history: (of: "dataspaces" | "sets" | "resources", oid: string, query = {}) => new Listing<AuditEntry>(`/${of}/${id(oid)}/history${queryOf(query)}`),
  head: () => call<AuditHead>("GET", "/audit/head"),
  exportAddress: `${root}/audit/export`,
  /** Erases the texts and the address of an entry for good. */
  erase: (number: number) => call<void>("DELETE", `/audit/entries/${number}/texts`),
};

const webhookPath = (wid: string) => `/webhooks/${id(wid)}`;

export const webhooks = {
  /** Those that the user may manage, by creation: 256 at most. */
  list: (signal: AbortSignal) => call<{ data: Webhook[] }>("GET", "/webhooks", { signal }).then((a) => a.data),
  get: (wid: string, signal: AbortSignal) => call<Webhook>("GET", webhookPath(wid), { signal }),
  create: (fields: Partial<Webhook>) => call<Webhook>("POST", "/webhooks", { body: fields }),
  edit: (wid: string, fields: Partial<Webhook>) => call<Webhook>("PUT", webhookPath(wid), { body: fields }),
  remove: (wid: string) => call<void>("DELETE", webhookPath(wid)),
  rotate: (wid: string) => call<Webhook>("POST", `${webhookPath(wid)}/rotate`),
  resume: (wid: string) => call<Webhook>("POST", `${webhookPath(wid)}/resume`),
  /** Passes over the message that failed, or with `all` over everything up to now. */
  skip: (wid: string, all: boolean) => call<Webhook>("POST", `${webhookPath(wid)}/skip`, { body: { all } }),
  /** The last 200, the newest first. */
  deliveries: (wid: string, signal: AbortSignal) => call<{ data: Delivery[] }>("GET", `${webhookPath(wid)}/deliveries`, { signal }).then((a) => a.data),
  /** Sends a message again, and waits for the receiver: 15 seconds at most. */
  repeat: (wid: string, number: number) => call<Delivery>("POST", `${webhookPath(wid)}/deliveries/${number}/repeat`),
};

export const users = {
  ...records<User>("/users"),
  keys: (uid: string, query = {}) => new Listing<Key>(`/users/${id(uid)}/keys${queryOf(query)}`),
  createKey: (uid: string, fields: { label?: string; expires?: string }) =>
    call<Key>("POST", `/users/${id(uid)}/keys`, { body: fields }),
  revokeKey: (uid: string, kid: string) => call<void>("DELETE", `/users/${id(uid)}/keys/${id(kid)}`),
};

export const privileges = {
  list: (query = {}) => new Listing<Privilege>(`/privileges${queryOf(query)}`),
  grant: (fields: { userId: string; dataspaceId: string; role: Role }) => call<Privilege>("POST", "/privileges", { body: fields }),
  revoke: (pid: string) => call<void>("DELETE", `/privileges/${id(pid)}`),
};

/** The state of a resumable upload. */
export interface ResumableUpload {
  length: number;
  offset: number;
  expires: string;
  /** Set once the upload is complete. */
  resourceUrl?: string;
}

export const uploads = {
  /** @param path such as /uploads/ID */
  get: (path: string, signal?: AbortSignal) => call<ResumableUpload>("GET", path, signal ? { signal } : {}),
  remove: (path: string) => call<void>("DELETE", path, { headers: { "Tus-Resumable": "1.0.0" } }),
};

/** The status of the service; `detail` only for sysadmins. */
export interface Status {
  status: "OK" | "READ-ONLY" | "FAILING";
  hostname: string;
  version: string;
  detail?: Record<string, unknown>;
}

export const service = {
  /** A failing service answers 503 with the same object. */
  async status(): Promise<Status> {
    const answer = await fetch(`${root}/status`, { credentials: "same-origin" }).catch(() => {
      throw unreachable;
    });
    if (answer.status !== 200 && answer.status !== 503) throw problemOf(answer.status, await answer.text());
    return answer.json();
  },
  usage: () => call<Usage>("GET", "/usage"),
  openapi: () => call<Record<string, unknown>>("GET", "/openapi.json"),
};

const interrupted = new Problem(0, "cut_off", "The download was interrupted.");

/** Converts an error while a body is read to a Problem. */
function received<T>(body: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return body.catch((cause) => {
    throw signal?.aborted ? cause : interrupted;
  });
}

/** Fetches at most `length` bytes of a file from `start`. Throws a Problem (412) if the file was replaced since the record was loaded. */
export async function range(of: Pick<StoredFile, "dataUrl" | "sha256">, start: number, length: number, signal?: AbortSignal): Promise<ArrayBuffer> {
  const headers = { Range: `bytes=${start}-${start + length - 1}`, "If-Match": `"sha256-${of.sha256}"` };
  const answer = await send("GET", pathOf(of.dataUrl), signal ? { headers, signal } : { headers });
  return received(answer.arrayBuffer(), signal);
}

/**
 * Fetches a whole file with its type. Throws a Problem (412) if it was replaced, as range does. A condition in the request would bypass
 * the browser's cache, so the ETag of the answer is compared.
 */
export async function download(of: Pick<StoredFile, "dataUrl" | "sha256">, signal?: AbortSignal): Promise<Blob> {
  const answer = await send("GET", pathOf(of.dataUrl), signal ? { signal } : {});
  if (!answer.headers.get("ETag")?.includes(of.sha256)) {
    await answer.body?.cancel();
    throw new Problem(412, "precondition_failed", "The file is not the one of the record.");
  }
  return received(answer.blob(), signal);
}
