// Looks up existing files under the names of a coming upload. Files of a folder are looked up
// together, because one request per file would take as long as its upload.
import type { Page, Resource } from "../api";
import { sets } from "../api";
import type { SelectedFile } from "./selection";
import { sha256 } from "./sha256";

/** The number of names per lookup. */
const together = 100;

/** The time during which a lookup is valid, in ms. */
const fresh = 5000;

/** The active resources of a set by name, oldest first. */
type Named = ReadonlyMap<string, Resource[]>;

const byName = async (setId: string, name: string, signal?: AbortSignal) => (await sets.resources(setId, { name, limit: 1000 }).all(1, signal)).items;

/** Lists the files with these names. Without a common prefix that narrows down a large set, each
    name is looked up separately. */
async function list(setId: string, names: string[], outer?: string): Promise<Named> {
  const prefix = prefixOf(names);
  if (names.length > 1 && prefix !== outer) {
    const listing = sets.resources(setId, { order: "name", namePrefix: prefix, limit: 4 * together });
    const page = await listing.page(listing.first);
    if (page.next === undefined) return grouped(page.items);
    const half = names.length >> 1;
    return new Map([...(await list(setId, names.slice(0, half), prefix)), ...(await list(setId, names.slice(half), prefix))]);
  }
  return grouped((await Promise.all(names.map((name) => byName(setId, name)))).flat());
}

function grouped(all: Resource[]): Named {
  const found = new Map<string, Resource[]>();
  for (const r of all) found.set(r.name, [...(found.get(r.name) ?? []), r]);
  return found;
}

/** Caches lookups for the next files. */
export class Existing {
  private known: { setId: string; at: number; names: Set<string>; found: Promise<Named | undefined> } | undefined;

  /** The newest resource with the name of a file, and whether it has the same bytes: files are
      hashed only if the sizes are equal. `next` are the following files. */
  async find(setId: string, { file, path }: SelectedFile, next: () => string[], signal: AbortSignal): Promise<{ resource: Resource; same: boolean } | undefined> {
    const named = await this.named(setId, path, next, signal);
    const equal = named.filter((r) => r.bytes === file.size);
    if (equal.length) {
      const digest = await sha256(file, signal);
      const same = equal.find((r) => r.sha256 === digest);
      if (same) return { resource: same, same: true };
    }
    const last = named[named.length - 1];
    return last && { resource: last, same: false };
  }

  private async named(setId: string, path: string, next: () => string[], signal: AbortSignal): Promise<Resource[]> {
    const now = performance.now();
    // Each result is used once: a retry needs the state after the first try.
    if (this.known?.setId !== setId || now - this.known.at > fresh || !this.known.names.delete(path)) {
      const names = new Set([path, ...next().slice(0, together - 1)]);
      // then each file reports its own error
      this.known = { setId, at: now, names, found: list(setId, [...names]).catch(() => undefined) };
      names.delete(path);
    }
    const found = await this.known.found;
    signal.throwIfAborted();
    return found ? (found.get(path) ?? []) : byName(setId, path, signal);
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
