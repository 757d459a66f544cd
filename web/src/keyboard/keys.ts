// Keys that do something by themselves. They can be switched off, since who speaks to the computer, or has a tremor, presses keys that are
// not meant (WCAG 2.1.4). A table of what there is now is what ? shows.
import { useEffect, useRef } from "preact/hooks";
import { listen } from "../events";

interface Action {
  /** As `KeyboardEvent.key` has it. */
  key: string;
  /** What it does, in the imperative. */
  label: string;
  run: () => void;
}

const storageKey = "labshelf.keys";
const actions = new Set<Action>();

export const areOn = () => localStorage.getItem(storageKey) !== "off";

export function switchKeys(on: boolean) {
  if (on) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, "off");
}

/** What each key does on this page; of two actions of a key the later one counts. */
export const offered = (): Action[] => [...new Map([...actions].map((a) => [a.key, a])).values()];

/** Whether a key is typed into something, or part of a combination. */
const isTyped = (e: KeyboardEvent) => {
  const to = e.target as HTMLElement;
  return e.ctrlKey || e.metaKey || e.altKey || e.isComposing || to.isContentEditable || /^(TEXTAREA|SELECT)$/.test(to.tagName) || (to instanceof HTMLInputElement && to.type !== "checkbox");
};

listen(window, "keydown", (e: KeyboardEvent) => {
  if (e.defaultPrevented || isTyped(e) || document.querySelector("dialog[open]")) return;
  const action = offered().find((a) => a.key === e.key);
  if (!action || (!areOn() && action.key !== "?")) return; // ? is how they are switched on again
  e.preventDefault();
  action.run();
});

/** Has a key do something while the component is shown; nothing without `run`. */
export function useKey(key: string, label: string, run: (() => void) | undefined) {
  const latest = useRef(run);
  latest.current = run;
  const has = !!run;
  useEffect(() => {
    if (!has) return;
    const action = { key, label, run: () => latest.current?.() };
    actions.add(action);
    return () => void actions.delete(action);
  }, [key, label, has]);
}
