// Large files go by the protocol tus: on where they stopped when the connection breaks, and also after the page was closed, once the
// same file is chosen again.
import type { DetailedError, HttpResponse, UploadOptions } from "tus-js-client";
import type { Resource } from "../api";
import { failureOf, resources, root, unreachable } from "../api";
import type { Destination, Sending, UploadFields } from "./form";
import { upload } from "./form";

/** The length above which a file goes in parts, in bytes. */
const partsAbove = 16 * 1024 * 1024;

/** Sends a file as its length wants it. */
export const uploadFile: typeof uploadParts = (to, file, ...rest) => (file.size > partsAbove ? uploadParts : upload)(to, file, ...rest);

/** What an upload is remembered by in the browser: unfinished.tsx reads it. */
const fingerprintOf = (what: object, file: File) => ["labshelf", root, JSON.stringify(what), file.size, file.lastModified].join(" ");

/** An upload of this browser that was begun. */
export interface Begun {
  /** Where the browser remembers it. */
  key: string;
  /** Its address in the interface. */
  path: string;
  size: number;
  lastModified: number;
  /** What it was begun with, and for a replacement the set of the resource. */
  fields: { filename: string; name?: string; setId?: string; resourceId?: string; within?: string };
}

/** All uploads that the browser remembers, of whoever used it. */
export function begunUploads(): Begun[] {
  const found: Begun[] = [];
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
    // the browser lets pages remember nothing, or what it remembers is not ours
  }
  return found;
}

/** Waits before the tries after one that got no further, in milliseconds. */
const pauses = [0, 1000, 2000, 5000, 10_000, 20_000];

/** Sends a file as a new resource of a set, or in place of a resource. */
async function uploadParts(
  to: Destination,
  file: File,
  filename: string,
  fields: UploadFields,
  sending: Sending,
): Promise<Resource> {
  const { progress, begins, unanswered, signal } = sending;
  const { Upload } = await import("tus-js-client");
  const { etag, within, ...place } = { etag: undefined, within: undefined, ...to };
  const metadata = Object.fromEntries(Object.entries({ ...place, filename, ...fields }).filter(([, value]) => value));
  /** The answer to a question how far it is that says nothing of that. It is not to be begun anew, as the library does then. */
  let unsaid: HttpResponse | undefined;
  let resumed = false;
  /** The next progress is where it goes on, and not what has been sent. */
  let begun = false;
  const last = await new Promise<HttpResponse>((resolve, reject) => {
    const options: UploadOptions = {
      endpoint: `${root}/uploads`,
      metadata,
      onBeforeRequest: (request) => void (etag && request.getMethod() === "POST" && request.setHeader("If-Match", etag)),
      retryDelays: pauses,
      removeFingerprintOnSuccess: true,
      // The same file on its way to the same place: whoever is signed in, the service lets only the user go on who began.
      fingerprint: async () => fingerprintOf({ ...metadata, ...(within && { within, etag }) }, file),
      onProgress: (sent) => {
        (begun || !begins ? progress : begins)(Math.min(sent, file.size));
        begun = true;
      },
      onSuccess: ({ lastResponse }) => resolve(lastResponse),
      onAfterResponse: (request, response) => {
        unsaid = request.getMethod() === "HEAD" && saysNothing(response.getStatus()) ? response : undefined;
        if (unsaid) throw new Error("no answer to the question");
      },
      onShouldRetry: (error) => {
        const status = (unsaid ?? error.originalResponse)?.getStatus() ?? 0;
        const again = (status < 400 || status >= 500 || status === 409 || status === 423 || status === 429) && navigator.onLine;
        begun = false;
        if (again && (status === 0 || status >= 500)) unanswered?.();
        return again;
      },
      onError: (error) => reject(explained(error, unsaid)),
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
  if (!made) throw unreachable; // something in between has answered
  const resource = await resources.get(made.slice(made.lastIndexOf("/") + 1));
  // An upload that had come to its end unheard may have made what was deleted or renamed since.
  if (resumed && (resource.state !== "active" || resource.name !== (fields.name ?? filename)))
    return uploadParts(to, file, filename, fields, sending);
  return resource;
}

/** Whether a status is that of somebody in between, of a service that is not ready, or of a visitor who has to sign in again. */
const saysNothing = (status: number) => status === 401 || status === 408 || status === 429 || status >= 500;

/** What the service has said, or that it said nothing. */
function explained(error: Error | DetailedError, unsaid: HttpResponse | undefined) {
  const answer = unsaid ?? ("originalResponse" in error ? error.originalResponse : null);
  if (answer?.getStatus()) return failureOf(answer.getStatus(), answer.getBody());
  return "originalRequest" in error ? unreachable : error;
}
