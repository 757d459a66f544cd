// Bulk edits: changes of the metadata of many files of a set.
import type { Value } from "../describe/metadata";
import { call, exact, id, queryOf, root } from "./http";
import type * as wire from "./wire";

/** The changes to one object by a bulk edit or in its preview. */
export interface BulkChange {
  id: string;
  name: string;
  /** Named like the columns of the table; null stands for no value. */
  fields: { name: string; before: Value | null; after: Value | null }[];
}

/** The reason why a row of a table, or an object, does not change. */
export interface BulkProblem {
  /** The row number from 1, including the header. */
  row?: number;
  column?: string;
  /** Begins with the name of the file if there is no row. */
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
  /** The address of the metadata table of a set. */
  tableAddress: (sid: string, separator?: "semicolon") => root + tablePath(sid, false) + queryOf({ separator }),
  /** Changes the files of a set by an edited table, or applies one change to many files. A preview
      changes nothing. */
  async apply(sid: string, change: Blob | ManyChange, preview: boolean): Promise<BulkOutcome> {
    const options = change instanceof Blob ? { blob: change, headers: { "Content-Type": "text/csv" } } : { body: change };
    return exact<BulkOutcome>("POST", tablePath(sid, preview), options);
  },
  /** The last edits, newest first. */
  list: (sid: string, signal?: AbortSignal) => call<{ data?: Edit[] }>("GET", `/sets/${id(sid)}/edits`, signal ? { signal } : {}).then((a) => a.data ?? []),
  get: (eid: string) => call<Edit>("GET", `/edits/${id(eid)}`),
  undo: (eid: string) => exact<BulkOutcome>("POST", `/edits/${id(eid)}/undo`),
};
