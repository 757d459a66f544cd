// Resumable uploads of large files by the tus protocol. An upload resumes after the connection breaks and, once the same file is selected
// again, after the page was closed.
import type { DetailedError, HttpResponse, UploadOptions as TusOptions } from "tus-js-client";
import type { Resource } from "../api";
import { failureOf, resources, root, unreachable } from "../api";
import type { Destination, UploadFields, UploadOptions } from "./formupload";
import { formUpload } from "./formupload";

/** Larger files, in bytes, use resumable uploads. */
const resumableAbove = 16 * 1024 * 1024;

/** Uploads a file in the way that suits its size. */
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

/** The backoff between retries without progress, in ms. */
const backoff = [0, 1000, 2000, 5000, 10_000, 20_000];

async function resumableUpload(
  to: Destination,
  file: File,
  filename: string,
  fields: UploadFields,
  callbacks: UploadOptions,
): Promise<Resource> {
  const { onProgress, onResume, onUnanswered, signal } = callbacks;
  const { Upload } = await import("tus-js-client");
  const { etag, within, ...destination } = { etag: undefined, within: undefined, ...to };
  const metadata = Object.fromEntries(Object.entries({ ...destination, filename, ...fields }).filter(([, value]) => value));
  /** An answer to HEAD without an offset. tus-js-client would start a new upload after it; here it retries. */
  let withoutOffset: HttpResponse | undefined;
  let resumed = false;
  /** False until the first progress event, whose value is the offset from which the upload starts. */
  let started = false;
  const last = await new Promise<HttpResponse>((resolve, reject) => {
    const options: TusOptions = {
      endpoint: `${root}/uploads`,
      metadata,
      onBeforeRequest: (request) => void (etag && request.getMethod() === "POST" && request.setHeader("If-Match", etag)),
      retryDelays: backoff,
      removeFingerprintOnSuccess: true,
      // It identifies file and destination, not the user: the service lets only the user resume who has started the upload.
      fingerprint: async () => fingerprintOf({ ...metadata, ...(within && { within, etag }) }, file),
      onProgress: (sent) => {
        (started || !onResume ? onProgress : onResume)(Math.min(sent, file.size));
        started = true;
      },
      onSuccess: ({ lastResponse }) => resolve(lastResponse),
      onAfterResponse: (request, response) => {
        withoutOffset = request.getMethod() === "HEAD" && isTemporary(response.getStatus()) ? response : undefined;
        if (withoutOffset) throw new Error("no offset");
      },
      onShouldRetry: (error) => {
        const answer = withoutOffset ?? error.originalResponse;
        const status = answer?.getStatus() ?? 0;
        if (answer && failureOf(status, answer.getBody()).code === "quota_exceeded") return false; // trying again makes no room
        const retry = (status < 400 || status >= 500 || status === 409 || status === 423 || status === 429) && navigator.onLine;
        started = false;
        if (retry && (status === 0 || status >= 500)) onUnanswered?.();
        return retry;
      },
      onError: (error) => reject(problemOfTus(error, withoutOffset)),
    };
    const upload = new Upload(file, options);
    signal.addEventListener("abort", () => void upload.abort().finally(() => reject(signal.reason)));
    void upload.findPreviousUploads().then(([before]) => {
      if (before) upload.resumeFromPreviousUpload(before);
      resumed = !!before;
      if (signal.aborted) reject(signal.reason);
      else upload.start();
    }, reject);
  });
  const made = last.getHeader("Labshelf-Resource");
  if (!made) throw unreachable; // the answer is from a proxy
  const resource = await resources.get(made.slice(made.lastIndexOf("/") + 1));
  // A completed upload whose answer was lost may have created a resource that was deleted or renamed since.
  if (resumed && (resource.state !== "active" || resource.name !== (fields.name ?? filename)))
    return resumableUpload(to, file, filename, fields, callbacks);
  return resource;
}

/** Whether a status comes from a proxy, from a service that is not ready, or asks to sign in again. */
const isTemporary = (status: number) => status === 401 || status === 408 || status === 429 || status >= 500;

/** Converts an error of tus-js-client to a Problem. */
function problemOfTus(error: Error | DetailedError, withoutOffset: HttpResponse | undefined) {
  const answer = withoutOffset ?? ("originalResponse" in error ? error.originalResponse : null);
  if (answer?.getStatus()) return failureOf(answer.getStatus(), answer.getBody());
  return "originalRequest" in error ? unreachable : error;
}
