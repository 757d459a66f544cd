// The address alone determines the content of a page, so that every view can be linked, reloaded
// and revisited.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { base } from "./api";
import { listen } from "./events";

export interface Location {
  /** Below the base path, such as /sets/ID. */
  path: string;
  query: URLSearchParams;
}

function currentLocation(): Location {
  const path = location.pathname.slice(base.length).replace(/(.)\/$/, "$1") || "/";
  return { path, query: new URLSearchParams(location.search) };
}

const navigated = "labshelf:navigated";

/** The id of the history entry; each navigation makes another one. */
export const historyEntry = (): string => history.state?.entry ?? "";

/** Returns an untrusted address, such as from a parameter, if it is below the base path, else "/". */
export const insideOrRoot = (to: string | null): string => (to && /^\/(?![/\\])/.test(to) ? to : "/");

/** While `active`, the browser asks before the document is closed or left. `outlasts` is for
    actions that continue after the page, such as uploads. */
export function useLeaveGuard(active: boolean, { outlasts = false } = {}) {
  useEffect(() => (active ? listen(window, "beforeunload", (e: Event) => (e.isTrusted || !outlasts) && e.preventDefault()) : undefined), [active]);
}

/** Whether leaving the page now would lose input: one of its guards rejects a synthetic event. */
export function hasUnsavedInput(): boolean {
  return !dispatchEvent(new Event("beforeunload", { cancelable: true }));
}

/** Navigates to an address below the base path. With `replace` it makes no history entry, as
    filters and redirects need. With `stays` the page does not scroll. */
export function navigate(to: string, { replace = false, stays = false } = {}) {
  if (!replace) {
    history.pushState({ entry: `${Date.now()}.${Math.random()}` }, "", base + to);
    if (!stays) scrollTo(0, 0);
  } else {
    history.replaceState(history.state, "", base + to);
  }
  dispatchEvent(new Event(navigated));
}

/** The current location; the component is rendered again after each navigation. */
export function useLocation(): Location {
  const [location, setLocation] = useState(currentLocation);
  // before the first click
  useLayoutEffect(() => listen(window, `${navigated} popstate`, () => setLocation(currentLocation())), []);
  return location;
}

/** Changes some parameters of the address; an empty value removes one. With `step` it makes a
    history entry. */
export function setQuery(changes: Record<string, string>, { step = false } = {}) {
  const { path, query } = currentLocation();
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  navigate(path + (text && `?${text}`), { replace: !step, stays: true });
}

/** Changes the fragment of the address; "" removes it. */
export function setFragment(fragment: string) {
  navigate(location.pathname.slice(base.length) + location.search + (fragment && `#${fragment}`), { replace: true });
}

type AnchorProps = { role?: "menuitem"; tabIndex?: number; class?: string; title?: string; id?: string; "aria-current"?: "page" | undefined; "aria-label"?: string };

/** A link below the base path. The browser handles clicks with a modifier key or another button. */
export function Link({ to, children, ...rest }: { to: string; children?: ComponentChildren } & AnchorProps) {
  const follow = (e: MouseEvent) => {
    if (e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
    e.preventDefault();
    navigate(to);
  };
  return (
    <a href={base + to} onClick={follow} {...rest}>
      {children}
    </a>
  );
}

/** The values of the named segments of a pattern such as /sets/:id, or undefined if the path does
    not match. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const names = pattern.split("/");
  const segments = path.split("/");
  if (names.length !== segments.length) return undefined;
  const values: Record<string, string> = {};
  for (const [i, name] of names.entries()) {
    const segment = segments[i]!;
    if (name.startsWith(":")) values[name.slice(1)] = decodedOrRaw(segment);
    else if (name !== segment) return undefined;
  }
  return values;
}

/** Decodes a percent-encoded text; a malformed one is returned unchanged. */
export function decodedOrRaw(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
