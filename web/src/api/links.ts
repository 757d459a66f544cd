// Links for people who have no account.
import type { Role } from "./records";
import { call, id, Listing, queryOf } from "./http";

export type LinkKind = "share" | "request" | "invitation";

export interface LinkRecord {
  id: string;
  /** A share shows files, a request takes some, an invitation makes a user, or gives one a role. */
  kind: LinkKind;
  label: string;
  /** Absent from an invitation that gives an account alone. */
  dataspaceId?: string;
  /** Absent from an invitation. */
  setId?: string;
  /** Of an invitation into a dataspace. */
  role?: Role;
  /** What a share shows of the set; without folder and resourceIds all. */
  folder?: string;
  resourceIds?: string[];
  /** Of its one file; absent: the newest. */
  version?: number;
  /** The user whose rights it has. */
  ownerId: string;
  state: "active" | "expired" | "revoked" | "used_up";
  created: string;
  /** "": never. */
  expires: string;
  hasPassword: boolean;
  /** Downloads or files, as all limits 0 if there is none. */
  maxUses: number;
  hidesPeople: boolean;
  maxBytes: number;
  maxFileBytes: number;
  /** Media types and extensions that a request takes; none: all. */
  types: string[];
  uses: number;
  bytesReceived: number;
  /** Of a request: uploads that are not complete, and the bytes that have come of them. */
  unfinishedUploads: number;
  unfinishedBytes: number;
  lastUsed?: string;
}

/** What a link is made with. */
export type LinkFields = Partial<LinkRecord> & { password?: string };

/** A new link with its address for visitors, which is never shown again. */
export type NewLink = LinkRecord & { address: string };

const path = (lid: string) => `/links/${id(lid)}`;

export const links = {
  /** Those that the user may manage, by creation. */
  list: (query = {}) => new Listing<LinkRecord>(`/links${queryOf(query)}`),
  create: (fields: LinkFields) => call<NewLink>("POST", "/links", { body: fields }),
  edit: (lid: string, fields: LinkFields) => call<LinkRecord>("PUT", path(lid), { body: fields }),
  revoke: (lid: string) => call<void>("DELETE", path(lid)),
  endUploads: (lid: string) => call<void>("DELETE", `${path(lid)}/uploads`),
  take: (lid: string) => call<LinkRecord>("POST", `${path(lid)}/take`),
};
