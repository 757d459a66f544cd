// Files that are dragged over the window and dropped.
import { useEffect, useRef, useState } from "preact/hooks";
import { listen } from "../events";

/** Returns whether files are dragged over the window, and calls `onDrop` when they are dropped.
    Without `onDrop`, drops are refused. */
export function useDrop(onDrop: ((transfer: DataTransfer) => void) | undefined): boolean {
  const [over, setOver] = useState(false);
  const latest = useRef(onDrop);
  latest.current = onDrop;
  useEffect(() => {
    const carriesFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files");
    const drag = (e: DragEvent) => {
      if (!carriesFiles(e) || !latest.current) return;
      e.preventDefault();
      e.dataTransfer!.dropEffect = "copy";
      setOver(true);
    };
    const leave = (e: DragEvent) => !e.relatedTarget && setOver(false);
    const drop = (e: DragEvent) => {
      setOver(false);
      if (carriesFiles(e)) latest.current?.(e.dataTransfer!);
    };
    // If the element under the pointer is rendered again during the drag, dragenter is the only event before the drop.
    const removers = [listen(window, "dragenter dragover", drag), listen(window, "dragleave", leave), listen(window, "drop", drop)];
    return () => removers.forEach((remove) => remove());
  }, []);
  return over;
}

/** Calls `onPaste` with files that are pasted outside of fields, if it is set and no dialog is
    open. */
export function usePaste(onPaste: ((files: FileList) => void) | undefined) {
  const latest = useRef(onPaste);
  latest.current = onPaste;
  useEffect(
    () =>
      listen(window, "paste", (e: ClipboardEvent) => {
        const files = e.clipboardData?.files;
        const into = e.target as HTMLElement;
        if (!latest.current || !files?.length || into.closest?.("input, textarea, [contenteditable]") || document.querySelector("dialog[open]")) return;
        e.preventDefault();
        latest.current(files);
      }),
    [],
  );
}

/** Keeps the browser from opening dropped files where the page does not accept them. */
export function refuseDrops() {
  const refuse = (e: DragEvent) => {
    if (e.defaultPrevented || !e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    e.dataTransfer.dropEffect = "none";
  };
  listen(window, "dragenter dragover", refuse);
  listen(window, "drop", (e: DragEvent) => e.preventDefault());
}
