// The user confirms the replacement of one version, and the request contains that version, so that
// it cannot hide a newer version.
import type { Resource } from "../api";
import { Problem, resources } from "../api";
import { asProblem } from "../ui/load";
import type { UploadOptions } from "./formupload";
import { uploadFile } from "./resumable";

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
