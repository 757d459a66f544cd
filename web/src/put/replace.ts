// What is replaced is gone for good. So people agree to it version by version, and the service is told which one is meant.
import type { Page, Resource } from "../api";
import { Problem, resources, sets } from "../api";
import { asProblem } from "../ui/load";
import type { Picked } from "./collect";
import type { Sending } from "./form";
import { uploadFile } from "./parts";

/** Versions of resources that a person has agreed to lose. */
export type Agreed = ReadonlySet<string>;

export const versionOf = (r: Pick<Resource, "id" | "sha256">) => `${r.id} ${r.sha256}`;

/** The resource has other bytes by now than those that the person has agreed to lose, or has been deleted: as it is now. */
export class Replaced extends Problem {
  constructor(readonly now: Resource) {
    const other = "Another file has come to this name since you agreed to replace what was there. Nothing was replaced.";
    super(409, "replaced", now.state === "active" ? other : "The file has been deleted since you agreed to replace it. Nothing was replaced.");
  }
}

/** Times that a file is sent again because the record has changed, and the bytes have not. */
const attempts = 5;

/** Puts a file in place of a resource, as long as that has bytes that the person has agreed to lose; else it throws Replaced. */
export async function replaceFile(
  id: string,
  agreed: Agreed,
  file: File,
  options: Sending,
): Promise<Resource> {
  for (let left = attempts; ; left--) {
    const { etag, ...now } = await resources.get(id);
    if (now.state !== "active" || !agreed.has(versionOf(now))) throw new Replaced(now);
    // What is left out would take its default (a new name, for example): only the bytes are to change.
    const fields = { name: now.name, description: now.description, format: now.format };
    try {
      return await uploadFile({ resourceId: id, within: now.setId, ...(etag && { etag }) }, file, file.name, fields, options);
    } catch (thrown) {
      if (asProblem(thrown).code !== "precondition_failed" || !left) throw thrown;
    }
  }
}

/** A file that would come to a name at which something is. */
export interface Loss {
  picked: Picked;
  /** All active resources of that name, in the order of the set. */
  there: Resource[];
}

/** Files up to which each name is asked for on its own; of more, all names that begin like theirs are read. */
const few = 20;

/** How all texts begin. */
function prefixOf(texts: string[]): string {
  let prefix = texts[0] ?? "";
  for (const text of texts) while (!text.startsWith(prefix)) prefix = prefix.slice(0, -1);
  return prefix.replace(/[\ud800-\udbff]$/, ""); // no half of a character
}

/** Which of the files have names that are in a set already. */
export async function lossesIn(setId: string, picked: Picked[]): Promise<Loss[]> {
  const named = new Map<string, Loss>(picked.map((p) => [p.path, { picked: p, there: [] }]));
  const names = [...named.keys()];
  const queries = names.length <= few ? names.map((name) => ({ name })) : [{ order: "name", namePrefix: prefixOf(names) }];
  for (const query of queries) {
    const listing = sets.resources(setId, { ...query, limit: 1000 });
    let next: string | undefined = listing.first;
    while (next !== undefined) {
      const page: Page<Resource> = await listing.page(next);
      for (const r of page.items) named.get(r.name)?.there.push(r);
      next = page.next;
    }
  }
  return [...named.values()].filter((loss) => loss.there.length);
}
