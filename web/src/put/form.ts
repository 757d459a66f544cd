// Files that are sent whole, as a form.
import type { Resource } from "../api";
import { failureOf, problemOf, root, unreachable } from "../api";

/** What goes along with a file. */
export interface UploadFields {
  name?: string;
  format?: string;
  description?: string;
  /** Hex; the service refuses the upload if what arrives differs. */
  sha256?: string;
}

/** What is told of a file on its way. */
export interface Sending {
  /** So many bytes have left by now. */
  progress: (sent: number) => void;
  /** It is sent from this byte on: those before it are there already. */
  begins?: (at: number) => void;
  /** The service does not answer, and is tried again. */
  unanswered?: () => void;
  /** Ends it. */
  signal: AbortSignal;
}

/**
 * A set that gets a new resource, or a resource, within a set, that is replaced: only while it has this version, if one is named (412).
 */
export type Destination = { setId: string } | { resourceId: string; within: string; etag?: string };

/**
 * Sends a file as a new resource of a set, or in place of a resource. fetch tells nothing about how far a body has got, so this one
 * is an XMLHttpRequest. Fields come before the file, so that a refusal comes before the bytes.
 */
export function upload(
  to: Destination,
  file: Blob,
  filename: string,
  fields: UploadFields,
  { progress, signal }: Sending,
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
    request.upload.onprogress = (e) => progress(Math.min(e.loaded, file.size));
    request.onloadend = () => {
      signal.removeEventListener("abort", abort);
      if (signal.aborted) reject(signal.reason);
      else if (request.status >= 200 && request.status < 300) {
        try {
          resolve(JSON.parse(request.responseText));
        } catch {
          reject(problemOf(request.status, "")); // something in between has answered
        }
      } else {
        reject(request.status ? failureOf(request.status, request.responseText) : unreachable);
      }
    };
    if (signal.aborted) reject(signal.reason);
    else request.send(form);
  });
}
