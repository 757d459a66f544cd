// The user confirms the replacement of one version, and the request contains that version, so that
// it cannot hide a newer version.
import type { Page, Resource } from "../api";
import { Problem, resources, sets } from "../api";
import { asProblem } from "../ui/load";
import type { UploadOptions } from "./formupload";
import { uploadFile } from "./resumable";
import type { SelectedFile } from "./selection";

/** Versions of resources whose replacement the user has confirmed. */
export type Confirmed = ReadonlySet<string>;

export const versionOf = (r: Pick<Resource, "id" | "sha256">) => `${r.id} ${r.sha256}`;

/** The resource has changed since the user confirmed its replacement, or was deleted. `now` is its current record. */
export class Replaced extends Problem {
  constructor(readonly now: Resource) {
    const other = "The file was changed since you confirmed its replacement. Nothing was replaced.";
    super(409, "replaced", now.state === "active" ? other : "The file was deleted since you confirmed its replacement. Nothing was replaced.");
  }
}

/** The number of retries after the record, but not its bytes, has changed. */
const attempts = 5;

/** Replaces the file of a resource if its current version is a confirmed one, else throws Replaced. */
export async function replaceFile(
  id: string,
  confirmed: Confirmed,
  file: File,
  options: UploadOptions,
): Promise<Resource> {
  for (let left = attempts; ; left--) {
    const { etag, ...now } = await resources.get(id);
    if (now.state !== "active" || !confirmed.has(versionOf(now))) throw new Replaced(now);
    // Omitted fields would get their defaults.
    const fields = { name: now.name, description: now.description, format: now.format };
    try {
      return await uploadFile({ resourceId: id, within: now.setId, ...(etag && { etag }) }, file, file.name, fields, options);
    } catch (thrown) {
      if (asProblem(thrown).code !== "precondition_failed" || !left) throw thrown;
    }
  }
}

/** A file whose name exists in the set. */
export interface NameConflict {
  file: SelectedFile;
  /** All active resources of that name, in the order of the set. */
  existing: Resource[];
}

/** Up to this many names are queried individually; for more, all names with their common prefix are
    listed. */
const maxQueries = 20;

/** The common prefix. */
export function prefixOf(texts: string[]): string {
  let prefix = texts[0] ?? "";
  for (const text of texts) while (!text.startsWith(prefix)) prefix = prefix.slice(0, -1);
  return prefix.replace(/[\ud800-\udbff]$/, ""); // does not end within a surrogate pair
}

/** Returns the files whose names exist in a set. */
export async function nameConflicts(setId: string, files: SelectedFile[]): Promise<NameConflict[]> {
  const named = new Map<string, NameConflict>(files.map((file) => [file.path, { file, existing: [] }]));
  const names = [...named.keys()];
  const queries = names.length <= maxQueries ? names.map((name) => ({ name })) : [{ order: "name", namePrefix: prefixOf(names) }];
  for (const query of queries) {
    const listing = sets.resources(setId, { ...query, limit: 1000 });
    let next: string | undefined = listing.first;
    while (next !== undefined) {
      const page: Page<Resource> = await listing.page(next);
      for (const r of page.items) named.get(r.name)?.existing.push(r);
      next = page.next;
    }
  }
  return [...named.values()].filter((conflict) => conflict.existing.length);
}
