// How files come in: dropped anywhere on a page, or picked by a button.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Problem } from "../api";
import { Button, Failed } from "../ui/basics";
import { asProblem } from "../ui/load";
import type { Found } from "./collect";
import { fromDrop, fromInput } from "./collect";
import { Plan } from "./plan";

/** A set; or a dataspace in which one is still to be chosen or made. */
export type Into = { set: DataSet } | { dataspaceId: string };

interface Put {
  /** For those who do not drag. */
  buttons: ComponentChildren;
  /** What is shown of a drop, and of what was picked, until it is under way. */
  rest: ComponentChildren;
}

/** Takes files for a place; for none, where nothing may be put. */
export function usePut(into: Into | undefined): Put {
  const [found, setFound] = useState<Found | undefined>();
  const [reading, setReading] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>();
  const take = async (transfer: DataTransfer) => {
    setProblem(undefined);
    setReading(true);
    await fromDrop(transfer).then(setFound, (thrown) => setProblem(asProblem(thrown)));
    setReading(false);
  };
  const over = useDrop(into ? take : undefined);
  return {
    buttons: into && <Pick take={setFound} />,
    rest: (
      <>
        {problem && <Failed problem={problem} />}
        {(over || reading) && (
          <div class="drop-here" role="status">
            {reading ? "Reading folder …" : "Drop to upload"}
          </div>
        )}
        {into && found && <Plan found={found} to={into} close={() => setFound(undefined)} />}
      </>
    ),
  };
}

/** Whether files hang above the window, and hands them to take when they fall. Without it they are refused. */
function useDrop(take: ((transfer: DataTransfer) => void) | undefined): boolean {
  const [over, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
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
    addEventListener("dragenter", drag); // the only one before a drop where a list is drawn anew meanwhile
    addEventListener("dragover", drag);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragenter", drag);
      removeEventListener("dragover", drag);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return over;
}

/** Keeps a drop that nobody takes from leaving the page for the file. */
export function refuseDrops() {
  const refuse = (e: DragEvent) => {
    if (e.defaultPrevented || !e.dataTransfer?.types.includes("Files")) return;
    e.preventDefault();
    e.dataTransfer.dropEffect = "none";
  };
  addEventListener("dragenter", refuse);
  addEventListener("dragover", refuse);
  addEventListener("drop", (e) => e.preventDefault());
}

function Pick({ take }: { take: (found: Found) => void }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const change = (e: Event) => {
    const input = e.currentTarget as HTMLInputElement;
    take(fromInput(input.files!));
    input.value = ""; // the same files may be picked again
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
