// The time of the user's last visit, to mark changes of others since then. The browser stores it.
import { base } from "../api";

/** The pause after which the start page counts as another visit, in ms. */
const pause = 30 * 60_000;

interface Visits {
  /** The last view of the start page. */
  seen: string;
  /** The end of the previous visit; "" at the first one. */
  before: string;
}

/** Records a view of the start page, and returns the end of the previous visit; "" at the first
    one. */
export function noteVisit(user: string, now = Date.now()): string {
  const key = `labshelf-visit${base} ${user}`;
  const was = stored(key);
  const before = was.seen && now - Date.parse(was.seen) > pause ? was.seen : was.before;
  try {
    localStorage.setItem(key, JSON.stringify({ seen: new Date(now).toISOString(), before } satisfies Visits));
  } catch {
    // Without storage, nothing is marked.
  }
  return before;
}

function stored(key: string): Visits {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "") as Visits;
  } catch {
    return { seen: "", before: "" };
  }
}
