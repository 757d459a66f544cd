// Requests to the service: its public interface, called with the session cookie.
import { parse } from "../describe/metadata";
import type * as wire from "./wire";

/** The base path of the service, such as "" or "/shelf"; the shell contains it. */
export const base = document.documentElement.dataset.base ?? "";

/** Whether open data can be read without signing in. */
export const anonymous = document.documentElement.dataset.anonymous !== undefined;

/** Whether the admins of a dataspace can invite people into it. */
export const adminsInvite = document.documentElement.dataset.adminsInvite !== undefined;

/** The path of the API, such as /v1. */
export const root = `${base}/v1`;

/** An error response of the service; status 0 means no response. */
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

/** Called when a response shows that the session has ended. */
let onSignedOut: () => void = () => {};
export function whenSignedOut(callback: () => void) {
  onSignedOut = callback;
}

/** Parses the body of an error response. */
export function problemOf(status: number, text: string): Problem {
  try {
    const p = JSON.parse(text);
    if (typeof p.detail === "string") return new Problem(status, p.code ?? "", p.detail, p.field ?? "");
  } catch {
    // not from the service, such as the page of a proxy
  }
  return new Problem(status, "", `The service answered ${status} without an explanation.`);
}

/** Returns the problem of a request that was not made with send, and reports the end of the
    session. */
export function failureOf(status: number, text: string): Problem {
  if (status === 401) onSignedOut();
  return problemOf(status, text);
}

export const unreachable = new Problem(0, "unreachable", "The service cannot be reached. It may be restarting, or the network is down.");

export interface Options {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged. */
  blob?: Blob;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** Sends a request and returns the response if it succeeds. Otherwise throws a Problem, or the
    reason of the signal. */
export async function send(method: string, path: string, { body, blob, signal, headers }: Options = {}): Promise<Response> {
  const init: RequestInit = { method, headers: { ...headers }, credentials: "same-origin" };
  if (signal) init.signal = signal;
  if (blob) init.body = blob;
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
  // open data is served without a session, too
  if (answer.headers.get("X-Session") === "ended") onSignedOut();
  if (answer.ok) return answer;
  if (answer.status === 401 && path !== "/session") onSignedOut();
  throw problemOf(answer.status, await answer.text());
}

export async function call<T>(method: string, path: string, options?: Options): Promise<T> {
  const answer = await send(method, path, options);
  return answer.status === 204 ? (undefined as T) : answer.json();
}

/** A JSON record whose numbers keep their notation. */
export const exact = async <T>(method: string, path: string, options?: Options): Promise<T> => parse(await (await send(method, path, options)).text()) as T;

/** Sends a request for a record, and returns the record with its ETag. */
export async function record<T>(method: string, path: string, options?: Options): Promise<T> {
  const answer = await send(method, path, options);
  const etag = answer.headers.get("ETag")?.replace(/^W\//, ""); // a proxy that compresses makes it weak; the service knows strong ones only
  const text = await answer.text();
  const value = JSON.parse(text);
  if (value.metadata) value.metadata = (parse(text) as { metadata?: unknown }).metadata;
  return { ...value, ...(etag && { etag }) };
}

/** A record and the ETag that a request applies to. Without an ETag the request applies to the
    current state. */
export type Revision = { id: string; etag?: string };

/** Changes a record. The service refuses (412) if the record has changed since that ETag. */
export const change = <T>(method: string, path: string, of: Revision, body: unknown) =>
  record<T>(method, path, of.etag ? { body, headers: { "If-Match": of.etag } } : { body });

/** The query string of the values that are set. The service refuses empty values. */
export function queryOf(values: Record<string, string | number | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== "") query.set(name, String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** The path of a URL from the service, below the root of the API. The service may have
    another public address (base_url). */
export function pathOf(url: string): string {
  const path = new URL(url).pathname;
  return path.slice(path.indexOf("/v1/") + 3);
}

/** How long a listing is, and where its pages begin, but the first one; `bounded`: there is more. */
export type Outline = wire.Outline;

/** One page of a listing. */
export interface Page<T> {
  items: T[];
  /** The address of the next page; undefined at the end. */
  next: string | undefined;
}

/** Rows of a page of a list. */
export const pageSize = 200;

/** The pages of a listing, in the order of the service. */
export class Listing<T> {
  /** @param first the address of the first page with its query, such as
      /sets/ID/resources?order=newest
      @param onPage receives the other fields of a page, such as the counts of a search */
  constructor(
    readonly first: string,
    private readonly onPage: (page: object) => void = () => {},
  ) {}

  /** Fetches a page: the first one, or the `next` of another page. A page can be fetched again. */
  async page(address: string, signal?: AbortSignal): Promise<Page<T>> {
    const page = await call<{ data?: T[]; nextPage?: string; end: boolean }>("GET", address, signal ? { signal } : {});
    this.onPage(page);
    if (page.end || !page.nextPage) return { items: page.data ?? [], next: undefined };
    return { items: page.data ?? [], next: pathOf(page.nextPage) };
  }

  /** Fetches the outline of pages like the first one, if the service has such outlines. */
  outline?: (signal: AbortSignal) => Promise<Outline>;

  /** Fetches pages until the end or until `bound` items; `complete` reports whether these are all.
   */
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

export const id = encodeURIComponent;

/** The requests that all kinds of records share. */
export const records = <T>(path: string, method: "PUT" | "PATCH" = "PUT") => ({
  list: (query = {}) => new Listing<T>(path + queryOf(query)),
  get: (rid: string) => record<T>("GET", `${path}/${id(rid)}`),
  create: (fields: Partial<T>) => record<T>("POST", path, { body: fields }),
  edit: (of: Revision, fields: Partial<T>) => change<T>(method, `${path}/${id(of.id)}`, of, fields),
  /** Changes the descriptive metadata by a merge patch (RFC 7396). */
  describe: (of: Revision, metadata: object) => change<T>(method, `${path}/${id(of.id)}`, of, { metadata }),
  remove: (rid: string) => call<void>("DELETE", `${path}/${id(rid)}`),
  restore: (rid: string) => record<T>("POST", `${path}/${id(rid)}/restore`),
});
