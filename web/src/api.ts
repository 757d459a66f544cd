// The only module that talks to the service. Everything here is the public interface, called with the session's cookie: what the
// pages can do, any script can do too. Names and fields are those of the interface reference.

/** Path under which the service lives, such as "" or "/shelf". The shell carries it, since scripts cannot know. */
export const base = document.documentElement.dataset.base ?? "";

/** Where the interface begins, such as /v1. */
export const root = `${base}/v1`;

export type State = "active" | "deleted";
export type Role = "member" | "editor" | "admin";

/** What every record carries about its own changes. */
interface Changed {
  state: State;
  created: string;
  modified: string;
  created_epoch: number;
  modified_epoch: number;
  createdBy: string;
  modifiedBy: string;
  /** Version of the record (ETag). Records in listings have none. */
  etag?: string;
}

export interface Dataspace extends Changed {
  id: string;
  url: string;
  name: string;
  title: string;
  description: string;
  visibility: "private" | "public";
  origin: string;
}

export interface DataSet extends Changed {
  id: string;
  url: string;
  name: string;
  title: string;
  description: string;
  dataspaceId: string;
}

export interface Resource extends Changed {
  id: string;
  url: string;
  dataUrl: string;
  viewDataUrl: string;
  name: string;
  description: string;
  format: string;
  mimetype: string;
  /** In units of 1,024 bytes, rounded. `bytes` is exact. */
  size: number;
  bytes: number;
  sha256: string;
  filename: string;
  setId: string;
  dataspaceId: string;
  /** The bytes are gone for good; only the record is left. */
  purged?: boolean;
  /** The file is known to be damaged on the server; whoever uploads the same bytes again heals it. */
  damaged?: boolean;
}

export interface User {
  id: string;
  url: string;
  username: string;
  fullname: string;
  about: string;
  /** Only told to sysadmins, and of oneself. */
  sysadmin?: boolean;
  state: State;
  /** Version of the record (ETag). Records in listings have none. */
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
  /** The secret: only in the answer that made it. */
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
}

export interface Usage extends Counters {
  days: (Counters & { day: string })[];
  dataspaces?: (Counters & { dataspaceId: string })[];
}

/** An answer that is no success, as the service explains it; or no answer at all, with status 0. */
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

/** Called when the service no longer knows who we are: the session has ended. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(tell: () => void) {
  onSignedOut = tell;
}

/** The problem that an answer's text and status stand for. */
export function problemOf(status: number, text: string): Problem {
  try {
    const p = JSON.parse(text);
    if (typeof p.detail === "string") return new Problem(status, p.code ?? "", p.detail, p.field ?? "");
  } catch {
    // not the service's own words: a proxy's page, for example
  }
  return new Problem(status, "", `The service answered ${status}, and did not say why.`);
}

/** The problem of a request that was not made with send. A session that has ended is told. */
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

/** Sends one request and returns its answer if it is a success; else it throws a Problem (or the signal's reason). */
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

/** Sends a request that a record answers, and returns it with its version. */
async function record<T>(method: string, path: string, options?: Options): Promise<T> {
  const answer = await send(method, path, options);
  const etag = answer.headers.get("ETag")?.replace(/^W\//, ""); // a proxy that compresses weakens it, and the service knows no weak one
  return { ...(await answer.json()), ...(etag && { etag }) };
}

/** A record, and the version of it to which a request applies. Without a version it applies to any. */
export type Version = { id: string; etag?: string };

/** Sends a change of a record, which is refused (412) if the record has changed since that version. */
const change = <T>(method: string, path: string, of: Version, body: unknown) =>
  record<T>(method, path, of.etag ? { body, headers: { "If-Match": of.etag } } : { body });

/** A query string of what is set; the service refuses empty values. */
export function queryOf(values: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** One page of a listing. */
export interface Page<T> {
  items: T[];
  /** Where the next one is; undefined at the end. */
  next: string | undefined;
}

/** The pages of a listing, as the service orders them. */
export class Listing<T> {
  /** @param first address of the first page, with its query, such as /sets/ID/resources?order=newest */
  constructor(readonly first: string) {}

  /** The page at an address: that of the first one, or what a page said to be next. Each can be fetched again. */
  async page(address: string, signal?: AbortSignal): Promise<Page<T>> {
    const page = await call<{ data?: T[]; nextPage?: string; end: boolean }>("GET", address, signal ? { signal } : {});
    if (page.end || !page.nextPage) return { items: page.data ?? [], next: undefined };
    // The address may be written for other visitors (base_url): only what follows /v1 counts here.
    const path = new URL(page.nextPage).pathname;
    return { items: page.data ?? [], next: path.slice(path.indexOf("/v1/") + 3) };
  }

  /** Everything, or as many pages as it takes to have `bound` objects; `whole` tells whether that was all. */
  async all(bound: number, signal?: AbortSignal): Promise<{ items: T[]; whole: boolean }> {
    const items: T[] = [];
    let next: string | undefined = this.first;
    while (next !== undefined && items.length < bound) {
      const page: Page<T> = await this.page(next, signal);
      items.push(...page.items);
      next = page.next;
    }
    return { items, whole: next === undefined };
  }
}

const id = encodeURIComponent;

export const session = {
  signIn: (key: string) => call<{ username: string; sysadmin: boolean }>("POST", "/session", { body: { key } }),
  signOut: () => call<void>("DELETE", "/session"),
  me: () => record<User>("GET", "/users/me"),
  /** Whose key it is. It changes nothing for whoever is signed in. */
  async whose(key: string): Promise<User> {
    const answer = await fetch(`${root}/users/me`, { headers: { Authorization: key }, credentials: "omit" }).catch(() => {
      throw unreachable;
    });
    if (!answer.ok) throw problemOf(answer.status, await answer.text());
    return answer.json();
  },
};

type Edit<T> = Partial<T>;

export const dataspaces = {
  list: (query = {}) => new Listing<Dataspace>(`/dataspaces${queryOf(query)}`),
  get: (did: string) => record<Dataspace>("GET", `/dataspaces/${id(did)}`),
  create: (fields: Edit<Dataspace>) => record<Dataspace>("POST", "/dataspaces", { body: fields }),
  edit: (of: Version, fields: Edit<Dataspace>) => change<Dataspace>("PUT", `/dataspaces/${id(of.id)}`, of, fields),
  remove: (did: string) => call<void>("DELETE", `/dataspaces/${id(did)}`),
  restore: (did: string) => record<Dataspace>("POST", `/dataspaces/${id(did)}/restore`),
  sets: (did: string, query = {}) => new Listing<DataSet>(`/dataspaces/${id(did)}/sets${queryOf(query)}`),
  resources: (did: string, query = {}) => new Listing<Resource>(`/dataspaces/${id(did)}/resources${queryOf(query)}`),
  usage: (did: string) => call<Usage>("GET", `/dataspaces/${id(did)}/usage`),
};

export const sets = {
  list: (query = {}) => new Listing<DataSet>(`/sets${queryOf(query)}`),
  get: (sid: string) => record<DataSet>("GET", `/sets/${id(sid)}`),
  create: (fields: Edit<DataSet>) => record<DataSet>("POST", "/sets", { body: fields }),
  edit: (of: Version, fields: Edit<DataSet>) => change<DataSet>("PUT", `/sets/${id(of.id)}`, of, fields),
  remove: (sid: string) => call<void>("DELETE", `/sets/${id(sid)}`),
  restore: (sid: string) => record<DataSet>("POST", `/sets/${id(sid)}/restore`),
  resources: (sid: string, query = {}) => new Listing<Resource>(`/sets/${id(sid)}/resources${queryOf(query)}`),
  /** Address of the zip of a set, or of some of its resources. */
  archive: (sid: string, only: string[] = []) =>
    `${root}/sets/${id(sid)}/archive${only.length ? "?" + only.map((rid) => `resource=${id(rid)}`).join("&") : ""}`,
};

export const resources = {
  list: (query = {}) => new Listing<Resource>(`/resources${queryOf(query)}`),
  get: (rid: string) => record<Resource>("GET", `/resources/${id(rid)}`),
  edit: (of: Version, fields: Edit<Resource>) => change<Resource>("PATCH", `/resources/${id(of.id)}`, of, fields),
  remove: (rid: string) => call<void>("DELETE", `/resources/${id(rid)}`),
  restore: (rid: string) => record<Resource>("POST", `/resources/${id(rid)}/restore`),
  /** Address of the bytes; inline asks the browser to show what it safely can. */
  data: (rid: string, inline = false) => `${root}/resources/${id(rid)}/data${inline ? "?disposition=inline" : ""}`,
};

export const users = {
  list: (query = {}) => new Listing<User>(`/users${queryOf(query)}`),
  get: (uid: string) => record<User>("GET", `/users/${id(uid)}`),
  create: (fields: Edit<User>) => record<User>("POST", "/users", { body: fields }),
  edit: (of: Version, fields: Edit<User>) => change<User>("PUT", `/users/${id(of.id)}`, of, fields),
  remove: (uid: string) => call<void>("DELETE", `/users/${id(uid)}`),
  restore: (uid: string) => record<User>("POST", `/users/${id(uid)}/restore`),
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

/** A file that comes in pieces. */
export interface ResumableUpload {
  length: number;
  offset: number;
  expires: string;
  /** It has come whole. */
  resourceUrl?: string;
}

export const uploads = {
  /** @param path such as /uploads/ID */
  get: (path: string, signal?: AbortSignal) => call<ResumableUpload>("GET", path, signal ? { signal } : {}),
  remove: (path: string) => call<void>("DELETE", path, { headers: { "Tus-Resumable": "1.0.0" } }),
};

/** How the service is; `detail` only for sysadmins. */
export interface Status {
  status: "OK" | "READ-ONLY" | "FAILING";
  hostname: string;
  version: string;
  detail?: Record<string, unknown>;
}

export const service = {
  /** A service that is failing answers 503 with the same object. */
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

const cutOff = new Problem(0, "cut_off", "The file broke off on its way here.");

/** What is read of an answer's body. */
function received<T>(body: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return body.catch((cause) => {
    throw signal?.aborted ? cause : cutOff;
  });
}

/**
 * Part of a resource's bytes: from `start`, at most `length`. Fewer come at the end of the file. They are those of the record: of a file
 * that has been replaced since, nothing comes (412).
 */
export async function range(of: Pick<Resource, "id" | "sha256">, start: number, length: number, signal?: AbortSignal): Promise<ArrayBuffer> {
  const headers = { Range: `bytes=${start}-${start + length - 1}`, "If-Match": `"sha256-${of.sha256}"` };
  const answer = await send("GET", `/resources/${id(of.id)}/data`, signal ? { headers, signal } : { headers });
  return received(answer.arrayBuffer(), signal);
}

/**
 * All bytes of a resource, with its type: those of the record, as with range. A condition in the request would keep the browser from
 * using what it has kept of them, so the answer is looked at.
 */
export async function whole(of: Pick<Resource, "id" | "sha256">, signal?: AbortSignal): Promise<Blob> {
  const answer = await send("GET", `/resources/${id(of.id)}/data`, signal ? { signal } : {});
  if (!answer.headers.get("ETag")?.includes(of.sha256)) {
    await answer.body?.cancel();
    throw new Problem(412, "precondition_failed", "The file is not the one of the record.");
  }
  return received(answer.blob(), signal);
}
