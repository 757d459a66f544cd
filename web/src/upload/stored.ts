// The unfinished uploads that tus-js-client stores in the browser, so that they can resume after the page was closed.
import { root } from "../api";

/** The key under which tus-js-client stores an upload in the browser; storedUploads parses it. */
export const fingerprintOf = (what: object, file: File) => ["labshelf", root, JSON.stringify(what), file.size, file.lastModified].join(" ");

/** An upload that this browser has started and not finished. */
export interface StoredUpload {
  /** The key in localStorage. */
  key: string;
  /** The path in the API. */
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
