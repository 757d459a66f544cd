import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DataSet } from "../api";
import { Button, Failed } from "../ui/basics";
import { asProblem } from "../ui/load";
import type { Problem } from "../api";
import type { Picked } from "./collect";
import { fromDrop, fromInput } from "./collect";
import { Plan } from "./plan";

export type Into = { set: DataSet } | { dataspaceId: string };

/** Takes files that are dropped anywhere on the page. Without `into` a drop does nothing, instead of leaving the page for the file. */
export function DropTarget({ into, children }: { into: Into | undefined; children: ComponentChildren }) {
  const [over, setOver] = useState(false);
  const [picked, setPicked] = useState<Picked[]>([]);
  const [problem, setProblem] = useState<Problem | undefined>();
  useEffect(() => {
    const carriesFiles = (e: DragEvent) => e.dataTransfer?.types.includes("Files");
    const drag = (e: DragEvent) => {
      if (!carriesFiles(e)) return;
      e.preventDefault();
      e.dataTransfer!.dropEffect = into ? "copy" : "none";
      setOver(!!into);
    };
    const leave = (e: DragEvent) => !e.relatedTarget && setOver(false);
    const drop = (e: DragEvent) => {
      if (!carriesFiles(e)) return;
      e.preventDefault();
      setOver(false);
      if (!into) return;
      setProblem(undefined);
      fromDrop(e.dataTransfer!).then(setPicked, (thrown) => setProblem(asProblem(thrown)));
    };
    addEventListener("dragover", drag);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", drag);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, [into]);
  return (
    <>
      {problem && <Failed problem={problem} />}
      {children}
      {over && (
        <div class="drop-here" aria-hidden="true">
          Drop to put them in
        </div>
      )}
      {into && picked.length > 0 && <Plan picked={picked} to={into} close={() => setPicked([])} />}
    </>
  );
}

/** Buttons for those who do not drag. */
export function PickFiles({ into }: { into: Into }) {
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const [picked, setPicked] = useState<Picked[]>([]);
  const take = (e: Event) => {
    const input = e.currentTarget as HTMLInputElement;
    setPicked(fromInput(input.files!));
    input.value = ""; // the same files may be picked again
  };
  return (
    <>
      <input ref={files} type="file" multiple hidden aria-label="Files to put in" onChange={take} />
      <input ref={folder} type="file" {...{ webkitdirectory: true }} hidden aria-label="Folder to put in" onChange={take} />
      <Button icon="folder" onClick={() => folder.current!.click()}>
        Put a folder in
      </Button>
      <Button icon="upload" kind="primary" onClick={() => files.current!.click()}>
        Put files in
      </Button>
      {picked.length > 0 && <Plan picked={picked} to={into} close={() => setPicked([])} />}
    </>
  );
}
