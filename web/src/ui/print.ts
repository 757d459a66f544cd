// What is printed: all of a page, where only a part of it is in the document.
import { options } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** Draws what a change of state asks for before it returns: the browser takes the page as it is after the listeners of beforeprint. */
function atOnce(change: () => void) {
  const before = options.debounceRendering;
  options.debounceRendering = (draw) => draw();
  try {
    change();
  } finally {
    if (before) options.debounceRendering = before;
    else delete options.debounceRendering;
  }
}

/** Whether the page is being printed. A component that uses it is drawn anew, all of it, before the browser takes the page. */
export function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  // A layout effect: with an ordinary one a page that is printed at once after it is drawn would have no listener yet.
  useLayoutEffect(() => {
    const begin = () => atOnce(() => setPrinting(true));
    const end = () => setPrinting(false);
    addEventListener("beforeprint", begin);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", begin);
      removeEventListener("afterprint", end);
    };
  }, []);
  return printing;
}

/**
 * Where the keys of the browser ask for printing while something is still to be fetched, fetches that first and prints then. `ready`
 * tells whether all is here, `load` brings it. Returns whether it is being brought.
 */
export function usePrintKey(ready: () => boolean, load: () => Promise<void>): boolean {
  const [loading, setLoading] = useState(false);
  const latest = useRef({ ready, load });
  latest.current = { ready, load };
  useLayoutEffect(() => {
    let gone = false;
    let running = false;
    const printAll = async () => {
      running = true;
      setLoading(true);
      await latest.current.load();
      running = false;
      if (gone) return;
      setLoading(false);
      print();
    };
    const onKey = (e: KeyboardEvent) => {
      if (e.key.toLowerCase() !== "p" || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey || latest.current.ready()) return;
      e.preventDefault();
      if (!running) void printAll();
    };
    addEventListener("keydown", onKey);
    return () => {
      gone = true;
      removeEventListener("keydown", onKey);
    };
  }, []);
  return loading;
}
