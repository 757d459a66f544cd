// Resumable uploads of large files by the tus protocol. An upload resumes after the connection breaks and, once the same file is selected
// again, after the page was closed.
import type { Resource } from "../api";
import { failureOf, resources, root, unreachable } from "../api";
import type { Destination, UploadFields, UploadOptions } from "./formupload";
import { formUpload } from "./formupload";
import { fingerprintOf } from "./stored";
import { Refused, sendInChunks } from "./tus";

/** Larger files, in bytes, use resumable uploads. */
const resumableAbove = 16 * 1024 * 1024;

/** Uploads a file in the way that fits its size. */
export const uploadFile: typeof resumableUpload = (to, file, ...rest) => (file.size > resumableAbove ? resumableUpload : formUpload)(to, file, ...rest);

async function resumableUpload(
  to: Destination,
  file: File,
  filename: string,
  fields: UploadFields,
  callbacks: UploadOptions,
): Promise<Resource> {
  const { etag, within, ...destination } = { etag: undefined, within: undefined, ...to };
  const metadata = Object.fromEntries(Object.entries({ ...destination, filename, ...fields }).filter(([, value]) => value));
  const { last, resumed } = await sendInChunks(file, {
    ...callbacks,
    endpoint: `${root}/uploads`,
    metadata,
    // The fingerprint identifies file and destination, not the user: the service lets only the user
    // who started an upload resume it.
    fingerprint: fingerprintOf({ ...metadata, ...(within && { within, etag }) }, file),
    ...(etag && { headers: { "If-Match": etag } }),
    backoff: [0, 1000, 2000, 5000, 10_000, 20_000],
    // retrying does not free space
    isFinal: (status, body) => failureOf(status, body).code === "quota_exceeded",
  }).catch((thrown) => {
    throw thrown instanceof Refused ? (thrown.status ? failureOf(thrown.status, thrown.body) : unreachable) : thrown;
  });
  const made = last.getHeader("Labshelf-Resource");
  if (!made) throw unreachable; // the response is from a proxy
  const resource = await resources.get(made.slice(made.lastIndexOf("/") + 1));
  // A completed upload whose response was lost can have created a resource that was deleted or
  // renamed since.
  if (resumed && (resource.state !== "active" || resource.name !== (fields.name ?? filename)))
    return resumableUpload(to, file, filename, fields, callbacks);
  return resource;
}
