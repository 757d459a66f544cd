import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Keeps the keyboard where the user works when rows are added or removed: in the first control of the row that is new, and else on the button
 * that adds one, the last of the element.
 */
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
