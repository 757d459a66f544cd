// Printing of pages that keep only a part of their content in the document.
import { options } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { listen } from "../events";

/** Changes state and renders synchronously: the browser prints the document in its state after the
    listeners of beforeprint. */
function renderNow(change: () => void) {
  const before = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  try {
    change();
  } finally {
    if (before) options.debounceRendering = before;
    else delete options.debounceRendering;
  }
}

/** Whether the page is being printed. The component is rendered with the new value before the browser prints. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  // A layout effect: with an ordinary effect, the page could be printed before it has a listener.
  useLayoutEffect(() => listen(window, "beforeprint afterprint", ({ type }) => renderNow(() => setPrinting(type === "beforeprint"))), []);
  return printing;
}

/** Handles the browser's print keys (Ctrl+P, ⌘P) while rows are missing: it loads the rest,
    then prints. `ready` returns whether all rows are loaded. Returns whether it is loading. */
export function usePrintKey(ready: () => boolean, load: () => Promise<void>): boolean {
  const [loading, setLoading] = useState(false);
  const latest = useRef({ ready, load });
  latest.current = { ready, load };
  useLayoutEffect(() => {
    let unmounted = false;
    let running = false;
    const printAll = async () => {
      running = true;
      setLoading(true);
      await latest.current.load();
      running = false;
      if (unmounted) return;
      setLoading(false);
      print();
    };
    const remove = listen(window, "keydown", (e: KeyboardEvent) => {
      if (e.key.toLowerCase() !== "p" || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey || latest.current.ready()) return;
      e.preventDefault();
      if (!running) void printAll();
    });
    return () => {
      unmounted = true;
      remove();
    };
  }, []);
  return loading;
}
