// Uploads a file in one request, as a form.
import type { Resource } from "../api";
import { failureOf, problemOf, root, unreachable } from "../api";

/** The fields of the resource that are sent with the file. */
export interface UploadFields {
  name?: string;
  format?: string;
  description?: string;
  /** In hex; the service refuses the upload if the received bytes differ. */
  sha256?: string;
}

/** Callbacks during an upload. */
export interface UploadOptions {
  /** Called with the number of bytes sent so far. */
  onProgress: (sent: number) => void;
  /** Called with the offset from which the upload resumes. */
  onResume?: (offset: number) => void;
  /** Called before a retry if the service does not answer. */
  onUnanswered?: () => void;
  /** Cancels the upload. */
  signal: AbortSignal;
}

/** A set that gets a new resource, or a resource of a set whose file is replaced: with an etag, only that version (else 412). */
export type Destination = { setId: string } | { resourceId: string; within: string; etag?: string };

/** Uploads a file in one request. It uses XMLHttpRequest, because fetch reports no upload
    progress. The fields precede the file, so that the service can refuse the upload before it
    receives the bytes. */
export function formUpload(
  to: Destination,
  file: Blob,
  filename: string,
  fields: UploadFields,
  { onProgress, signal }: UploadOptions,
): Promise<Resource> {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    if ("setId" in to) form.set("setId", to.setId);
    for (const [name, value] of Object.entries(fields)) if (value) form.set(name, value);
    form.set("file", file, filename);
    const request = new XMLHttpRequest();
    if ("setId" in to) request.open("POST", `${root}/resources`);
    else {
      request.open("PUT", `${root}/resources/${encodeURIComponent(to.resourceId)}`);
      if (to.etag) request.setRequestHeader("If-Match", to.etag);
    }
    const abort = () => request.abort();
    signal.addEventListener("abort", abort);
    request.upload.onprogress = (e) => onProgress(Math.min(e.loaded, file.size));
    request.onloadend = () => {
      signal.removeEventListener("abort", abort);
      if (signal.aborted) reject(signal.reason);
      else if (request.status >= 200 && request.status < 300) {
        try {
          resolve(JSON.parse(request.responseText));
        } catch {
          reject(problemOf(request.status, "")); // from a proxy, not from the service
        }
      } else {
        reject(request.status ? failureOf(request.status, request.responseText) : unreachable);
      }
    };
    if (signal.aborted) reject(signal.reason);
    else request.send(form);
  });
}
