// Uploads start with a drop or a paste anywhere on the page, or with a button.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Problem } from "../api";
import { ErrorMessage } from "../ui/components";
import { asProblem } from "../ui/load";
import type { UploadTarget } from "./dialog";
import { UploadDialog } from "./dialog";
import type { Selection } from "./selection";
import { fromClipboard, fromDrop, fromInput } from "./selection";
import { useDrop, usePaste } from "./window";

interface Upload {
  /** The elements that the file choosers need on the page. */
  inputs: ComponentChildren;
  chooseFiles: () => void;
  chooseFolder: () => void;
  /** Feedback during a drop, then the dialog that starts the upload. */
  dialog: ComponentChildren;
}

/** Accepts files for a target; without a target, none. `folder` is the prefix of their names. */
export function useUpload(target: UploadTarget | undefined, folder = ""): Upload {
  const [selection, select] = useState<Selection | undefined>();
  const setSelection = ({ files, unreadable }: Selection) => select({ files: files.map((f) => ({ ...f, path: folder + f.path })), unreadable });
  const files = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  const change = (e: Event) => {
    const input = e.currentTarget as HTMLInputElement;
    setSelection(fromInput(input.files!));
    input.value = ""; // allows selecting the same files again
  };
  const [reading, setReading] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const read = async (transfer: DataTransfer) => {
    setProblem(undefined);
    setReading(true);
    await fromDrop(transfer).then(setSelection, (thrown) => setProblem(asProblem(thrown)));
    setReading(false);
  };
  const over = useDrop(target ? read : undefined);
  usePaste(target ? (files) => setSelection(fromClipboard(files)) : undefined);
  return {
    inputs: target && (
      <>
        <input ref={files} type="file" multiple hidden aria-label="Files to upload" onChange={change} />
        <input ref={folderInput} type="file" {...{ webkitdirectory: true }} hidden aria-label="Folder to upload" onChange={change} />
      </>
    ),
    chooseFiles: () => files.current!.click(),
    chooseFolder: () => folderInput.current!.click(),
    dialog: (
      <>
        {problem && <ErrorMessage problem={problem} />}
        {(over || reading) && (
          <div class="drop-here" role="status">
            {reading ? "Reading folder …" : "Drop to upload"}
          </div>
        )}
        {target && selection && <UploadDialog selection={selection} target={target} close={() => select(undefined)} />}
      </>
    ),
  };
}
