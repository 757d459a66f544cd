// Bulk edits: changes of the metadata of many files of a set.
import type { Value } from "../describe/metadata";
import { call, exact, id, queryOf, root } from "./http";

/** What a bulk edit changes of one object, or would change. */
export interface BulkChange {
  id: string;
  name: string;
  /** Named as in the table; null is nothing. */
  fields: { name: string; before: Value | null; after: Value | null }[];
}

/** Why a row of a table, or an object, is not changed. */
export interface BulkProblem {
  /** From 1, the header included. */
  row?: number;
  column?: string;
  /** Begins with the name of the file, where there is no row. */
  message: string;
}

/** A bulk edit of the files of a set. */
export interface Edit {
  id: string;
  url: string;
  setId: string;
  by: string;
  kind: "csv" | "many" | "undo";
  /** The edit that this one has undone. */
  undoes?: string;
  /** How many objects it has changed. */
  objects: number;
  created: string;
  /** The edit that has undone this one. */
  undone?: string;
}

/** What a bulk edit has done, or in a preview would do. */
export interface BulkOutcome {
  edit?: Edit;
  rows: number;
  changed: number;
  unchanged: number;
  /** The first hundred. */
  changes: BulkChange[];
  problems: BulkProblem[];
}

/** A change of many files. */
export interface ManyChange {
  ids: string[];
  /** A merge patch (RFC 7396). */
  metadata?: object;
  addTags?: string[];
  removeTags?: string[];
}

const tablePath = (sid: string, preview: boolean) => `/sets/${id(sid)}/metadata${preview ? "?preview=true" : ""}`;

export const edits = {
  /** The address of the table of all metadata of the files of a set. */
  tableAddress: (sid: string, separator?: "semicolon") => root + tablePath(sid, false) + queryOf({ separator }),
  /** Changes the files of a set by a table that was edited, or by one change for many. A preview changes nothing. */
  async apply(sid: string, change: Blob | ManyChange, preview: boolean): Promise<BulkOutcome> {
    const options = change instanceof Blob ? { blob: change, headers: { "Content-Type": "text/csv" } } : { body: change };
    return exact<BulkOutcome>("POST", tablePath(sid, preview), options);
  },
  /** The last ones, the newest first. */
  list: (sid: string, signal?: AbortSignal) => call<{ data?: Edit[] }>("GET", `/sets/${id(sid)}/edits`, signal ? { signal } : {}).then((a) => a.data ?? []),
  get: (eid: string) => call<Edit>("GET", `/edits/${id(eid)}`),
  undo: (eid: string) => exact<BulkOutcome>("POST", `/edits/${id(eid)}/undo`),
};
