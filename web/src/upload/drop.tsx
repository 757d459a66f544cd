// Uploads start with a drop anywhere on the page, or with a button.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import { listen } from "../events";
import { Button, ErrorMessage } from "../ui/components";
import { asProblem } from "../ui/load";
import type { UploadTarget } from "./dialog";
import { UploadDialog } from "./dialog";
import type { Selection } from "./selection";
import { fromDrop, fromInput } from "./selection";

interface Upload {
  /** The buttons that open file choosers. */
  buttons: ComponentChildren;
  /** Feedback during a drop, then the dialog that starts the upload. */
  dialog: ComponentChildren;
}

/** Accepts files for a target; without one it accepts none. */
export function useUpload(target: UploadTarget | undefined): Upload {
  const [selection, setSelection] = useState<Selection | undefined>();
  const [reading, setReading] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const read = async (transfer: DataTransfer) => {
    setProblem(undefined);
    setReading(true);
    await fromDrop(transfer).then(setSelection, (thrown) => setProblem(asProblem(thrown)));
    setReading(false);
  };
  const over = useDrop(target ? read : undefined);
  return {
    buttons: target && <UploadButtons onSelect={setSelection} />,
    dialog: (
      <>
        {problem && <ErrorMessage problem={problem} />}
        {(over || reading) && (
          <div class="drop-here" role="status">
            {reading ? "Reading folder …" : "Drop to upload"}
          </div>
        )}
        {target && selection && <UploadDialog selection={selection} target={target} close={() => setSelection(undefined)} />}
      </>
    ),
  };
}

/** Returns whether files are dragged over the window, and calls `onDrop` when they are dropped. Without `onDrop` they are refused. */
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

function UploadButtons({ onSelect }: { onSelect: (selection: Selection) => void }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const change = (e: Event) => {
    const input = e.currentTarget as HTMLInputElement;
    onSelect(fromInput(input.files!));
    input.value = ""; // so that the same files can be selected again
  };
  return (
    <>
      <input ref={files} type="file" multiple hidden aria-label="Files to upload" onChange={change} />
      <input ref={folder} type="file" {...{ webkitdirectory: true }} hidden aria-label="Folder to upload" onChange={change} />
      <Button icon="folder" onClick={() => folder.current!.click()}>
        Upload a folder
      </Button>
      <Button icon="upload" kind="primary" onClick={() => files.current!.click()}>
        Upload files
      </Button>
    </>
  );
}
