// The search, the audit log, webhooks, unfinished uploads, and the service itself.
import { call, id, Listing, problemOf, queryOf, root, unreachable } from "./http";
import type { DataSet, Dataspace, Resource, Usage } from "./records";
import type * as wire from "./wire";

/** A search hit. */
export type Hit = { matched: string[] } & ({ kind: "dataspace"; record: Dataspace } | { kind: "set"; record: DataSet } | { kind: "resource"; record: Resource });

/** The number of hits with a value; `name` is the name of a dataspace. */
export interface Count {
  value: string | number;
  name?: string;
  count: number;
}

/** Information about all hits. `total` and `counts` are only on the first page, if there are hits.
 */
export interface Found {
  total?: number;
  counts?: Record<"kinds" | "dataspaces" | "tags" | "creators" | "years", Count[]>;
  /** The number of changes that the search index has not applied yet. */
  behind?: number;
}

export const search = {
  list: (query: { q: string; order?: string; limit?: number; counts?: "" }, onPage?: (page: Found) => void) =>
    new Listing<Hit>(`/search${queryOf({ counts: "true", ...query })}`, onPage),
};

/** The old value of a change; the new value if the field was empty before. */
export type Changed = string | { before: string; now: string };

/** An entry of the audit log. Unknown fields are absent. */
export interface AuditEntry extends Omit<wire.AuditEntry, "values" | "texts"> {
  values?: Record<string, Changed | number>;
  texts?: Record<string, Changed>;
}

/** A signed head of the audit log, and the public key of its signature. */
export type AuditHead = wire.AuditHead;

/** Newest first. */
export const audit = {
  list: (query = {}) => new Listing<AuditEntry>(`/audit${queryOf(query)}`),
  history: (of: "dataspaces" | "sets" | "resources", oid: string, query = {}) => new Listing<AuditEntry>(`/${of}/${id(oid)}/history${queryOf(query)}`),
  head: () => call<AuditHead>("GET", "/audit/head"),
  exportAddress: `${root}/audit/export`,
  /** Permanently erases the texts and the address of an entry. */
  erase: (number: number) => call<void>("DELETE", `/audit/entries/${number}/texts`),
};

/** Sends a message for each change. Empty fields are absent. */
export interface Webhook extends wire.Webhook {
  /** Only in the answers to its creation and to rotate. */
  secret?: string;
}

/** A message of a webhook, and what came of its last try. */
export type Delivery = wire.Delivery;

const webhookPath = (wid: string) => `/webhooks/${id(wid)}`;

export const webhooks = {
  /** The webhooks that the user can manage, in order of creation: 256 at most. */
  list: (signal: AbortSignal) => call<{ data: Webhook[] }>("GET", "/webhooks", { signal }).then((a) => a.data),
  get: (wid: string, signal: AbortSignal) => call<Webhook>("GET", webhookPath(wid), { signal }),
  create: (fields: Partial<Webhook>) => call<Webhook>("POST", "/webhooks", { body: fields }),
  edit: (wid: string, fields: Partial<Webhook>) => call<Webhook>("PUT", webhookPath(wid), { body: fields }),
  remove: (wid: string) => call<void>("DELETE", webhookPath(wid)),
  rotate: (wid: string) => call<Webhook>("POST", `${webhookPath(wid)}/rotate`),
  resume: (wid: string) => call<Webhook>("POST", `${webhookPath(wid)}/resume`),
  /** Skips the failed message, or with `all` everything up to now. */
  skip: (wid: string, all: boolean) => call<Webhook>("POST", `${webhookPath(wid)}/skip`, { body: { all } }),
  /** The last 200, newest first. */
  deliveries: (wid: string, signal: AbortSignal) => call<{ data: Delivery[] }>("GET", `${webhookPath(wid)}/deliveries`, { signal }).then((a) => a.data),
  /** Sends a message again, and waits up to 15 seconds for the receiver. */
  repeat: (wid: string, number: number) => call<Delivery>("POST", `${webhookPath(wid)}/deliveries/${number}/repeat`),
};

/** The state of a resumable upload. */
export type ResumableUpload = wire.Upload;

export const uploads = {
  /** @param path such as /uploads/ID */
  get: (path: string, signal?: AbortSignal) => call<ResumableUpload>("GET", path, signal ? { signal } : {}),
  remove: (path: string) => call<void>("DELETE", path, { headers: { "Tus-Resumable": "1.0.0" } }),
};

/** The status of the service; `detail` only for sysadmins. */
export type Status = wire.Status;

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
