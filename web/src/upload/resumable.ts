// Resumable uploads of large files by the tus protocol. An upload resumes after the connection breaks and, once the same file is selected
// again, after the page was closed.
import type { Resource } from "../api";
import { failureOf, resources, root, unreachable } from "../api";
import type { Destination, UploadFields, UploadOptions } from "./formupload";
import { formUpload } from "./formupload";
import { Refused, sendInChunks } from "./tus";

/** Larger files, in bytes, use resumable uploads. */
const resumableAbove = 16 * 1024 * 1024;

/** Uploads a file in the way that fits its size. */
export const uploadFile: typeof resumableUpload = (to, file, ...rest) => (file.size > resumableAbove ? resumableUpload : formUpload)(to, file, ...rest);

/** The key under which tus-js-client stores an upload in the browser; storedUploads parses it. */
const fingerprintOf = (what: object, file: File) => ["labshelf", root, JSON.stringify(what), file.size, file.lastModified].join(" ");

/** An upload that this browser has started and not finished. */
export interface StoredUpload {
  /** The key in localStorage. */
  key: string;
  /** The path in the interface. */
  path: string;
  size: number;
  lastModified: number;
  /** The metadata of the upload; for a replacement, with the set of the resource. */
  fields: { filename: string; name?: string; setId?: string; resourceId?: string; within?: string };
}

/** All uploads that the browser stores, of any user. */
export function storedUploads(): StoredUpload[] {
  const found: StoredUpload[] = [];
  const pattern = /^tus::labshelf (\S*) (\{.*\}) (\d+) (\d+)::\d+$/s;
  try {
    for (const key of Object.keys(localStorage)) {
      const parts = pattern.exec(key);
      if (!parts || parts[1] !== root) continue;
      const url: string = JSON.parse(localStorage.getItem(key)!).uploadUrl;
      const path = `/uploads/${url.slice(url.lastIndexOf("/") + 1)}`;
      found.push({ key, path, size: Number(parts[3]), lastModified: Number(parts[4]), fields: JSON.parse(parts[2]!) });
    }
  } catch {
    // localStorage is disabled, or the entry has another format
  }
  return found;
}

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
