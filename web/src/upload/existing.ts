// What a set has already under the names of files that are about to be sent. Files of a folder are asked for together: a request for each would
// take as long as its upload.
import type { Resource } from "../api";
import { sets } from "../api";
import { prefixOf } from "./replace";
import type { SelectedFile } from "./selection";
import { sha256 } from "./sha256";

/** Names that are asked for together. */
const together = 100;

/** An answer about many names is used for this time, in ms. */
const fresh = 5000;

/** The active resources of a set by name, oldest first. */
type Named = ReadonlyMap<string, Resource[]>;

const byName = async (setId: string, name: string, signal?: AbortSignal) => (await sets.resources(setId, { name, limit: 1000 }).all(1, signal)).items;

/** Lists what has names such as these. Without a common beginning that narrows a large set down, each is asked for by itself. */
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

/** Remembers for a moment what was found about files that come next. */
export class Existing {
  private known: { setId: string; at: number; names: Set<string>; found: Promise<Named | undefined> } | undefined;

  /** The newest resource of the name of a file, and whether it has the same bytes: files are hashed only where sizes are equal. `next` are files that will be asked for soon. */
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
    // Each answer counts once: a second try is about what the first one has done.
    if (this.known?.setId !== setId || now - this.known.at > fresh || !this.known.names.delete(path)) {
      const names = new Set([path, ...next().slice(0, together - 1)]);
      this.known = { setId, at: now, names, found: list(setId, [...names]).catch(() => undefined) }; // then each file says what is wrong
      names.delete(path);
    }
    const found = await this.known.found;
    signal.throwIfAborted();
    return found ? (found.get(path) ?? []) : byName(setId, path, signal);
  }
}
