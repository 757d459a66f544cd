// Sessions, users, keys and privileges.
import { call, id, Listing, problemOf, queryOf, record, records, root, unreachable } from "./http";
import type { Role } from "./records";
import type * as wire from "./wire";

export interface User extends wire.User {
  /** The ETag of the record; records in listings have none. */
  etag?: string;
}

export interface Key extends wire.Key {
  /** The secret: only in the answer to its creation. */
  key?: string;
}

/** The fields of a key that its user or a sysadmin chooses. */
export type KeyFields = wire.KeyCreation;

export type KeyScope = wire.KeyScope;

/** The objects that depend on a key. */
export type Dependents = wire.KeyDependents;

export type Privilege = wire.Privilege;

export const session = {
  signIn: (key: string) => call<{ username: string; sysadmin: boolean }>("POST", "/session", { body: { key } }),
  signOut: () => call<void>("DELETE", "/session"),
  me: () => record<User>("GET", "/users/me"),
  /** The user of a key. The session does not change. */
  async userOf(key: string): Promise<User> {
    const answer = await fetch(`${root}/users/me`, { headers: { Authorization: key }, credentials: "omit" }).catch(() => {
      throw unreachable;
    });
    if (!answer.ok) throw problemOf(answer.status, await answer.text());
    return answer.json();
  },
};

export const users = {
  ...records<User>("/users"),
  usage: (uid: string) => call<{ used: number; quota?: number }>("GET", `/users/${id(uid)}/usage`),
  keys: (uid: string, query = {}) => new Listing<Key>(`/users/${id(uid)}/keys${queryOf(query)}`),
  createKey: (uid: string, fields: KeyFields) => call<Key>("POST", `/users/${id(uid)}/keys`, { body: fields }),
  /** Makes a key narrower. If its scope, place or networks change, everything that was created with
      it ends, unless `keep`. */
  changeKey: (uid: string, kid: string, fields: KeyFields, keep = false) =>
    call<Key>("PUT", `/users/${id(uid)}/keys/${id(kid)}${queryOf(keep ? { dependents: "keep" } : {})}`, { body: fields }),
  dependents: (uid: string, kid: string, signal?: AbortSignal) =>
    call<Dependents>("GET", `/users/${id(uid)}/keys/${id(kid)}/dependents`, { signal }),
  revokeKey: (uid: string, kid: string, keep = false) =>
    call<void>("DELETE", `/users/${id(uid)}/keys/${id(kid)}${queryOf(keep ? { dependents: "keep" } : {})}`),
};

export const privileges = {
  list: (query = {}) => new Listing<Privilege>(`/privileges${queryOf(query)}`),
  grant: (fields: { userId: string; dataspaceId: string; role: Role }) => call<Privilege>("POST", "/privileges", { body: fields }),
  revoke: (pid: string) => call<void>("DELETE", `/privileges/${id(pid)}`),
};
