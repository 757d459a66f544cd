// The files of a set with missing required form fields.
import type { DataSet, Dataspace, Found } from "../api";
import { schemas, search } from "../api";

/** The search that finds the incomplete files of a set, or of a dataspace. */
export const incompleteIn = (dataspace: Dataspace, set?: DataSet) => `is:incomplete type:file in:${dataspace.name}${set ? `/${set.name}` : ""}`;

/** The maximum number of incomplete files that are marked in the list of a set. */
const maxMarked = 200;

export interface Incomplete {
  total: number;
  /** Their ids, if the list is complete. */
  ids: ReadonlySet<string>;
  /** The search index is behind. */
  behind: boolean;
}

export const noneIncomplete: Incomplete = { total: 0, ids: new Set<string>(), behind: false };

/** The incomplete files of a set; empty if no schema of the dataspace is for files, or if the
    search is not up to date. */
export async function loadIncomplete(dataspace: Dataspace, set: DataSet, signal: AbortSignal): Promise<Incomplete> {
  const none = noneIncomplete;
  if (set.state !== "active") return none;
  const forFiles = await schemas.list(dataspace.id, signal).then((all) => all.some((s) => s.for === "files" && s.state === "active"), () => false);
  if (!forFiles) return none;
  let found: Found = {};
  const listing = search.list({ q: incompleteIn(dataspace, set), order: "name", limit: maxMarked }, (page) => (found = page));
  return listing.page(listing.first, signal).then(
    ({ items }) => ({ total: found.total ?? 0, ids: new Set(items.length === found.total ? items.map((hit) => hit.record.id) : []), behind: !!found.behind }),
    () => none,
  );
}
