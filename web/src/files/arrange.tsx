// Renaming in place, and dragging into folders. The move and rename dialogs do the same without a
// pointer.
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { DataSet, Entry, Resource } from "../api";
import { folders, isFolder, resources } from "../api";
import { changeMany, notifyUndoable, Refusals } from "../edit/many";
import { plural } from "../format";
import { IconButton } from "../ui/components";
import { useAction } from "../ui/load";
import { notify } from "../ui/notice";
import { notifyChange } from "../upload/queue";

const pathOf = (e: Entry) => (isFolder(e) ? e.folder.slice(0, -1) : e.name);

const folderOf = (path: string) => path.slice(0, path.lastIndexOf("/") + 1);

const baseOf = (path: string) => path.slice(folderOf(path).length);

/** Moves a file or a folder to another path in its set, and reports it with an undo. */
async function repath(set: DataSet, e: Entry, to: string, text: string) {
  const undo = isFolder(e) ? await moveFolder(set, e.folder, `${to}/`) : await renameFile(e, to);
  notifyChange(set.id);
  notify(<p>{text}</p>, {
    label: "Undo",
    run: async () => {
      await undo();
      notifyChange(set.id);
      return <p>Undone.</p>;
    },
  });
}

async function moveFolder(set: DataSet, path: string, toPath: string) {
  const done = await folders.move(set.id, { path, toPath });
  return () => folders.move(set.id, { path: done.path, toPath: path });
}

async function renameFile(was: Resource, name: string) {
  const is = await resources.edit(was, { name });
  return () => resources.edit(is, { name: was.name });
}

interface RowProps {
  set: DataSet;
  of: Entry;
  /** The dragged items: the selection, or this row if it is not selected. */
  selected: ReadonlyMap<string, Resource>;
  children: ComponentChildren;
}

/** The name in a row: it can be renamed, dragged, and used as drop target if it is a folder. */
export function Arranged({ set, of, selected, children }: RowProps) {
  const [editing, setEditing] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const before = useRef(false);
  useLayoutEffect(() => {
    if (before.current && !editing) box.current!.querySelector("a")?.focus({ preventScroll: true });
    before.current = editing;
  }, [editing]);
  const target = useTarget(isFolder(of) ? { set, path: of.folder } : undefined);
  if (editing) return <Renaming set={set} of={of} close={() => setEditing(false)} />;
  const start = (e: DragEvent) => {
    dragged = isFolder(of) ? [of] : selected.has(of.id) ? [...selected.values()] : [of];
    e.dataTransfer!.setData("text/plain", dragged.map(pathOf).join("\n"));
    e.dataTransfer!.effectAllowed = "move";
  };
  return (
    <span class="arranged" ref={box} onDragStart={start} onDragEnd={() => (dragged = [])} {...target}>
      {children}
      <IconButton icon="edit" label={`Rename ${baseOf(pathOf(of))}`} data-rename tabIndex={-1} onClick={() => setEditing(true)} />
    </span>
  );
}

/** The field that replaces the name. Enter and a click elsewhere rename; Escape cancels. A refused
    name stays with the reason. */
function Renaming({ set, of, close }: Pick<RowProps, "set" | "of"> & { close: () => void }) {
  const path = pathOf(of);
  const input = useRef<HTMLInputElement>(null);
  const { run, busy, problem } = useAction(async () => {
    const name = input.current!.value;
    if (name && name !== baseOf(path)) await repath(set, of, folderOf(path) + name, `Renamed to ${name}.`);
    close();
  });
  useLayoutEffect(() => {
    const { current } = input;
    current!.focus();
    const dot = baseOf(path).lastIndexOf(".");
    current!.setSelectionRange(0, isFolder(of) || dot <= 0 ? current!.value.length : dot);
  }, []);
  const onKeyDown = (e: KeyboardEvent) => {
    e.stopPropagation(); // some keys would move the focus of the list
    if (e.key === "Escape") close();
    if (e.key === "Enter") void run();
  };
  return (
    <span class="renaming">
      <input ref={input} aria-label="New name" aria-invalid={!!problem} aria-describedby={problem && "rename-error"} spellcheck={false} defaultValue={baseOf(path)} readOnly={busy} onKeyDown={onKeyDown} onBlur={() => !problem && void run()} />
      {problem && (
        <span class="error" role="alert" id="rename-error">
          {problem.detail}
        </span>
      )}
    </span>
  );
}

/** Renames the focused item of a list, or the only selected one. */
export function renameFocused(selected: ReadonlyMap<string, Resource>) {
  const [only] = selected.size === 1 ? selected.values() : [];
  const row = document.activeElement?.closest("[data-index]") ?? (only && document.querySelector(`.row a[href$="/resources/${only.id}"]`)?.closest("[data-index]"));
  row?.querySelector<HTMLElement>("[data-rename]")?.click();
}

/** The dragged item; there is at most one. */
let dragged: Entry[] = [];

/** Whether the dragged item can move into a folder: it is not already there, and not inside itself.
 */
const fits = (path: string) => dragged.length > 0 && dragged.every((e) => folderOf(pathOf(e)) !== path && !(isFolder(e) && path.startsWith(e.folder)));

/** Makes a link to a folder a drop target for files and folders of its set. */
export function useTarget(to: { set: DataSet; path: string } | undefined) {
  const [over, setOver] = useState(false);
  if (!to) return {};
  const accept = (e: DragEvent) => {
    if (!fits(to.path)) return;
    e.preventDefault();
    e.dataTransfer!.dropEffect = "move";
    setOver(true);
  };
  const drop = (e: DragEvent) => {
    setOver(false);
    if (!fits(to.path)) return;
    e.preventDefault();
    void moveInto(to.set, dragged, to.path);
    dragged = [];
  };
  return { "data-over": over || undefined, onDragEnter: accept, onDragOver: accept, onDragLeave: () => setOver(false), onDrop: drop };
}

async function moveInto(set: DataSet, entries: Entry[], path: string) {
  const where = path ? path.slice(0, -1) : set.title || set.name;
  const [folder] = entries.filter(isFolder);
  if (folder) {
    const name = baseOf(pathOf(folder));
    return repath(set, folder, path + name, `${name} moved to ${where}.`).catch((thrown: Error) => notify(<p class="error">{thrown.message}</p>));
  }
  const files = entries as Resource[];
  const from = new Map<string, Resource[]>();
  const { done, refused } = await changeMany(files, { action: "move", folder: path }, () => true);
  for (const [was, id] of done) from.set(folderOf(was.name), [...(from.get(folderOf(was.name)) ?? []), { ...was, id }]);
  if (refused.size) notify(<Refusals of={refused} />);
  for (const [home, some] of from) notifyUndoable(`${plural(some.length, "file")} moved to ${where}.`, some, { action: "move", folder: home });
}
