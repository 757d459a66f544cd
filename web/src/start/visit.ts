// When the user was here before: what others have changed since then is marked. It is kept in this browser.
import { base } from "../api";

/** A pause after which the next look at the start page is another visit, in ms. */
const pause = 30 * 60_000;

interface Visits {
  /** The latest look at the start page. */
  seen: string;
  /** The end of the visit before this one; "" at the first one. */
  before: string;
}

/** Notes that the user looks at the start page, and returns the end of the visit before this one; "" at the first one. */
export function noteVisit(user: string, now = Date.now()): string {
  const key = `labshelf-visit${base} ${user}`;
  const was = stored(key);
  const before = was.seen && now - Date.parse(was.seen) > pause ? was.seen : was.before;
  try {
    localStorage.setItem(key, JSON.stringify({ seen: new Date(now).toISOString(), before } satisfies Visits));
  } catch {
    // A browser that keeps nothing marks nothing.
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
