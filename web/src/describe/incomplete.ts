// The files of a set that lack what their form asks for.
import type { DataSet, Dataspace, Found } from "../api";
import { schemas, search } from "../api";

/** The search that finds them. Without a set: those of a dataspace. */
export const incompleteIn = (dataspace: Dataspace, set?: DataSet) => `is:incomplete type:file in:${dataspace.name}${set ? `/${set.name}` : ""}`;

/** Incomplete files that are marked in the list of a set at most. */
const maxMarked = 200;

export interface Incomplete {
  total: number;
  /** Their ids, if these are all. */
  ids: ReadonlySet<string>;
  /** The search has not followed all changes yet. */
  behind: boolean;
}

export const noneIncomplete: Incomplete = { total: 0, ids: new Set<string>(), behind: false };

/** The incomplete files of a set; none if no schema of the dataspace is for files, or if the search cannot tell. */
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
