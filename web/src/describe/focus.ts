import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Keeps the focus near the edit when rows are added or removed: on the first control of a new
    row, or else on the last button of the element, which adds a row. */
export function useFocusOnRows<E extends HTMLElement>(count: number, row: string): RefObject<E | null> {
  const ref = useRef<E>(null);
  const before = useRef(count);
  useLayoutEffect(() => {
    const added = count > before.current;
    if (count === before.current) return;
    before.current = count;
    const target = added ? [...ref.current!.querySelectorAll(row)].at(-1)?.querySelector<HTMLElement>("input, select, textarea, button") : [...ref.current!.querySelectorAll<HTMLElement>("button")].at(-1);
    target?.focus();
  }, [count]);
  return ref;
}
