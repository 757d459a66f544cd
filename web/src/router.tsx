// The address says what is shown; there is no other state that decides it. So every view can be linked, reloaded and gone back to.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { base } from "./api";

export interface Place {
  /** Below the base, such as /sets/ID. */
  path: string;
  query: URLSearchParams;
}

function here(): Place {
  const path = location.pathname.slice(base.length).replace(/(.)\/$/, "$1") || "/";
  return { path, query: new URLSearchParams(location.search) };
}

const moved = "labshelf:moved";

/** Which entry of the history this is; another for each place that was gone to. */
export const entry = (): string => history.state?.entry ?? "";

/** An address below the base that came from outside, such as from a parameter; "/" for one that leads elsewhere. */
export const inside = (to: string | null): string => (to && /^\/(?![/\\])/.test(to) ? to : "/");

/** Has the browser ask before the page is closed or left for another site, as long as something would be lost. */
export function useLeaveGuard(why: boolean) {
  useEffect(() => {
    if (!why) return;
    const warn = (e: BeforeUnloadEvent) => e.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [why]);
}

/** Goes to an address below the base. A replacement leaves no entry behind it: for filters, and for what only redirects. */
export function go(to: string, { replace = false } = {}) {
  if (!replace) {
    history.pushState({ entry: `${Date.now()}.${Math.random()}` }, "", base + to);
    scrollTo(0, 0);
  } else {
    history.replaceState(history.state, "", base + to);
  }
  dispatchEvent(new Event(moved));
}

/** Where the visitor is, also after a move. */
export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    const update = () => setPlace(here());
    addEventListener(moved, update);
    addEventListener("popstate", update);
    return () => {
      removeEventListener(moved, update);
      removeEventListener("popstate", update);
    };
  }, []);
  return place;
}

/** Changes some parameters of the address; an empty value takes one away. */
export function setQuery(changes: Record<string, string>) {
  const { path, query } = here();
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  go(path + (text && `?${text}`), { replace: true });
}

type AnchorProps = { class?: string; title?: string; id?: string; "aria-current"?: "page" | undefined; "aria-label"?: string };

/** A link below the base. With a modifier key, or another button, it is the browser's. */
export function Link({ to, children, ...rest }: { to: string; children?: ComponentChildren } & AnchorProps) {
  const follow = (e: MouseEvent) => {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    go(to);
  };
  return (
    <a href={base + to} onClick={follow} {...rest}>
      {children}
    </a>
  );
}

/** The parts of a path that a pattern such as /sets/:id names, or nothing. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const found: Record<string, string> = {};
  for (let i = 0; i < wanted.length; i++) {
    const want = wanted[i]!;
    const part = given[i]!;
    if (want !== part && !want.startsWith(":")) return undefined;
    if (want.startsWith(":")) found[want.slice(1)] = decoded(part);
  }
  return found;
}

/** A part of a path, read; as it is where it was not written well. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
