// What this browser has sent through a link: the same files, selected again after a reload, are not sent twice.
import type { SelectedFile } from "../upload/selection";

/** How long it is remembered, in ms: as long as the service keeps unfinished uploads where nothing else is set. */
const kept = 7 * 24 * 3600 * 1000;

const mark = "labshelf-sent ";

/** Identifies a file and the link through which it goes. */
export const keyOf = (endpoint: string, { file, path }: SelectedFile) => [endpoint, file.size, file.lastModified, path].join(" ");

/** Whether localStorage lets a function use it. */
function stored<T>(use: () => T, otherwise: T): T {
  try {
    return use();
  } catch {
    return otherwise; // it is disabled, or full
  }
}

export const remember = (key: string) => stored(() => localStorage.setItem(mark + key, String(Date.now())), undefined);

export const wasSent = (key: string) => stored(() => localStorage.getItem(mark + key) !== null, false);

/** Forgets what was sent long ago, through any link. */
export function forget() {
  stored(() => {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(mark) && !(Date.now() - Number(localStorage.getItem(key)) < kept)) localStorage.removeItem(key);
  }, undefined);
}
