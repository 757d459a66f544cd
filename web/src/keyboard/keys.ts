// Single-key shortcuts. They can be switched off, because people who use speech input or have a
// tremor can trigger them by accident (WCAG 2.1.4). The ? key lists the active ones.
import { useEffect, useRef } from "preact/hooks";
import { listen } from "../events";

interface Action {
  /** A value of `KeyboardEvent.key`. */
  key: string;
  /** The description, in the imperative. */
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

/** The action of each key on this page; the later one of two wins. */
export const offered = (): Action[] => [...new Map([...actions].map((a) => [a.key, a])).values()];

/** Whether a key is typed into a field, or part of a combination. */
const isTyped = (e: KeyboardEvent) => {
  const to = e.target as HTMLElement;
  return e.ctrlKey || e.metaKey || e.altKey || e.isComposing || to.isContentEditable || /^(TEXTAREA|SELECT)$/.test(to.tagName) || (to instanceof HTMLInputElement && to.type !== "checkbox");
};

listen(window, "keydown", (e: KeyboardEvent) => {
  if (e.defaultPrevented || isTyped(e) || document.querySelector("dialog[open]")) return;
  const action = offered().find((a) => a.key === e.key);
  if (!action || (!areOn() && action.key !== "?")) return; // ? can switch them on again
  e.preventDefault();
  action.run();
});

/** Registers a key while the component is mounted; inactive without `run`. */
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
