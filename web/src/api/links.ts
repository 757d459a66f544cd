// Links for people who have no account.
import { call, id, Listing, queryOf } from "./http";
import type * as wire from "./wire";

export type LinkKind = wire.LinkKind;

export type LinkRecord = wire.Link;

/** The fields of a new link. */
export type LinkFields = Partial<LinkRecord> & { password?: string };

/** A new link with its address for visitors, which is never shown again. */
export type NewLink = wire.NewLink;

const path = (lid: string) => `/links/${id(lid)}`;

export const links = {
  /** The links that the user can manage, in order of creation. */
  list: (query = {}) => new Listing<LinkRecord>(`/links${queryOf(query)}`),
  create: (fields: LinkFields) => call<NewLink>("POST", "/links", { body: fields }),
  edit: (lid: string, fields: LinkFields) => call<LinkRecord>("PUT", path(lid), { body: fields }),
  revoke: (lid: string) => call<void>("DELETE", path(lid)),
  endUploads: (lid: string) => call<void>("DELETE", `${path(lid)}/uploads`),
  take: (lid: string) => call<LinkRecord>("POST", `${path(lid)}/take`),
};
