// Selects another table of the same set, to be plotted with this one.
import { useState } from "preact/hooks";
import { type Resource, sets } from "../api";
import { count, plural } from "../format";
import { Button, ErrorMessage, Skeleton } from "../ui/components";
import { Dialog } from "../ui/dialog";
import { useLoad } from "../ui/load";
import { isTable, maxFiles } from "./files";
import type { Shown } from "./tables";

/** The maximum number of searched files, and of listed files. */
const maxSearched = 5000;
const maxListed = 50;

export function AddFile({ setId, shown, add }: { setId: string; shown: Shown[]; add: (id: string) => void }) {
  const [open, setOpen] = useState(false);
  const choose = (r: Resource) => {
    setOpen(false);
    add(r.id);
  };
  return (
    <>
      <Button disabled={shown.length >= maxFiles} onClick={() => setOpen(true)}>
        Add a file …
      </Button>
      {open && (
        <Dialog title="Plot another file with this one" onClose={() => setOpen(false)}>
          <Files setId={setId} shown={shown} choose={choose} />
        </Dialog>
      )}
    </>
  );
}

function Files({ setId, shown, choose }: { setId: string; shown: Shown[]; choose: (r: Resource) => void }) {
  const [text, setText] = useState("");
  const { value, problem, reload } = useLoad((signal) => sets.resources(setId, { order: "name", limit: 1000 }).all(maxSearched, signal), [setId]);
  return (
    <div class="add-file">
      <label>
        Part of the name
        <input type="search" autofocus autocomplete="off" spellcheck={false} value={text} onInput={(e) => setText(e.currentTarget.value)} />
      </label>
      {problem ? <ErrorMessage problem={problem} retry={reload} /> : !value ? <Skeleton lines={4} /> : <Found {...value} text={text} shown={shown} choose={choose} />}
    </div>
  );
}

interface FoundProps {
  items: Resource[];
  /** Whether these are all files of the set. */
  complete: boolean;
  text: string;
  shown: Shown[];
  choose: (r: Resource) => void;
}

function Found({ items, complete, text, shown, choose }: FoundProps) {
  const there = shown.flatMap((s) => [s.id, s.table.text?.file.dataUrl]);
  const wanted = text.toLowerCase().split(/\s+/);
  const found = items.filter((r) => isTable(r) && !there.includes(r.id) && !there.includes(r.dataUrl) && wanted.every((w) => r.name.toLowerCase().includes(w)));
  return (
    <>
      <p class="dim" role="status">
        {plural(found.length, "table")} of this set
        {found.length > maxListed && `; these are the first ${maxListed}`}
        {!complete && `, among the first ${count(maxSearched)} files`}
      </p>
      <ul class="files">
        {found.slice(0, maxListed).map((r) => (
          <li key={r.id}>
            <Button onClick={() => choose(r)}>{r.name}</Button>
          </li>
        ))}
      </ul>
    </>
  );
}
