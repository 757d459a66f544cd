// Bulk edits: changes of the metadata of many files of a set.
import type { Value } from "../describe/metadata";
import { call, exact, id, queryOf, root } from "./http";
import type * as wire from "./wire";

/** The changes to one object by a bulk edit or in its preview. */
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
export type Edit = wire.Edit;

/** The outcome of a bulk edit or of its preview. */
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
export type ManyChange = wire.ManyEdit;

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
