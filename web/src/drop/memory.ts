// Remembers the files that this browser has sent through a link, so that files selected again after
// a reload are not sent twice.
import type { SelectedFile } from "../upload/selection";

/** The lifetime of an entry in ms: the default lifetime of unfinished uploads in the service. */
const kept = 7 * 24 * 3600 * 1000;

const mark = "labshelf-sent ";

/** Identifies a file and the link through which it goes. */
export const keyOf = (endpoint: string, { file, path }: SelectedFile) => [endpoint, file.size, file.lastModified, path].join(" ");

/** Calls a function that uses localStorage; returns `otherwise` if it is not available. */
function stored<T>(use: () => T, otherwise: T): T {
  try {
    return use();
  } catch {
    return otherwise; // localStorage is disabled or full
  }
}

export const remember = (key: string) => stored(() => localStorage.setItem(mark + key, String(Date.now())), undefined);

export const wasSent = (key: string) => stored(() => localStorage.getItem(mark + key) !== null, false);

/** Removes old entries of any link. */
export function forget() {
  stored(() => {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(mark) && !(Date.now() - Number(localStorage.getItem(key)) < kept)) localStorage.removeItem(key);
  }, undefined);
}
