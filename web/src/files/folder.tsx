// The open folder: its path, content and actions.
import { useState } from "preact/hooks";
import type { DataSet, FolderChange } from "../api";
import { folders, sets } from "../api";
import { plural } from "../format";
import { Link, navigate, useLocation } from "../router";
import { Confirm, Dialog } from "../ui/dialog";
import { Field, Form } from "../ui/form";
import { Icon } from "../ui/icons";
import { More } from "../ui/menu";
import { notify } from "../ui/notice";
import { notifyChange } from "../upload/queue";
import { useTarget } from "./arrange";
import { contentsOf, folderAddress, useFolderSize } from "./columns";

interface Props {
  set: DataSet;
  /** "" is the set. */
  path: string;
  mayWrite: boolean;
  changes: number;
}

type Dialogs = "new" | "place" | "delete";

/** The path of the folder above one. */
const above = (path: string) => path.slice(0, path.lastIndexOf("/", path.length - 2) + 1);

const nameOf = (path: string) => path.slice(above(path).length, -1);

export function FolderBar({ set, path, mayWrite, changes }: Props) {
  const { query } = useLocation();
  const [open, setOpen] = useState<Dialogs | undefined>();
  const found = useFolderSize(set.id, path, changes);
  const state = query.get("state") ?? "";
  const elements = path.split("/").slice(0, -1);
  const close = () => setOpen(undefined);
  return (
    <div class="folder-bar">
      <nav aria-label="Folder">
        <ol>
          <li>{path ? <Above set={set} path="" state={state} label={set.title || set.name} mayWrite={mayWrite} /> : <span aria-current="page">{set.title || set.name}</span>}</li>
          {elements.map((element, i) => (
            <li key={i}>
              {i === elements.length - 1 ? (
                <span aria-current="page">{element || "/"}</span>
              ) : (
                <Above set={set} path={elements.slice(0, i + 1).join("/") + "/"} state={state} label={element || "/"} mayWrite={mayWrite} />
              )}
            </li>
          ))}
        </ol>
      </nav>
      <span class="dim counted">{found && contentsOf(found)}</span>
      <div class="actions">
        {path && (
          <a class="button" href={sets.folderArchive(set.id, path)} download aria-label="Download folder">
            <Icon name="download" /> <span class="wide-only">Download folder</span>
          </a>
        )}
        <More
          label="Folder actions"
          items={[
            mayWrite && { label: "New folder", icon: "plus", run: () => setOpen("new") },
            mayWrite && !!path && { label: "Rename, move, copy", icon: "edit", run: () => setOpen("place") },
            mayWrite && !!path && { label: "Delete folder", icon: "trash", run: () => setOpen("delete") },
          ]}
        />
      </div>
      {open === "new" && <NewFolder set={set} below={path} close={close} />}
      {open === "place" && <PlaceFolder set={set} path={path} close={close} />}
      {open === "delete" && <DeleteFolder set={set} path={path} close={close} />}
    </div>
  );
}

/** A breadcrumb that is also a drop target for rows. */
function Above({ set, path, state, label, mayWrite }: { set: DataSet; path: string; state: string; label: string; mayWrite: boolean }) {
  return (
    <span {...useTarget(mayWrite ? { set, path } : undefined)}>
      <Link to={folderAddress(set.id, path, state)}>{label}</Link>
    </span>
  );
}

function NewFolder({ set, below, close }: { set: DataSet; below: string; close: () => void }) {
  const [name, setName] = useState("");
  const create = async () => {
    const { path } = await folders.create(set.id, { path: `${below}${name}/` });
    notifyChange(set.id);
    close();
    navigate(folderAddress(set.id, path));
  };
  return (
    <Dialog title="New folder" onClose={close}>
      <Form action="Create" submit={create} onCancel={close} disabled={!name}>
        {(errorOf) => (
          <Field label="Name" hint={below ? `In ${below}` : undefined} error={errorOf("path")}>
            {(a) => <input {...a} required autofocus spellcheck={false} value={name} onInput={(e) => setName(e.currentTarget.value)} />}
          </Field>
        )}
      </Form>
    </Dialog>
  );
}

/** Reports a change of a folder, with an undo. */
function announce(set: DataSet, done: FolderChange, text: string, undo: () => Promise<unknown>, before: string) {
  notifyChange(set.id);
  notify(
    <p>
      {text} <Link to={folderAddress(done.setId, done.path)}>{done.path.slice(0, -1)}</Link>, {plural(done.files, "file", "files")}.
    </p>,
    {
      label: "Undo",
      run: async () => {
        await undo();
        navigate(folderAddress(set.id, before));
        notifyChange(set.id);
        return <p>Undone.</p>;
      },
    },
  );
}

function PlaceFolder({ set, path, close }: { set: DataSet; path: string; close: () => void }) {
  const [to, setTo] = useState(path.slice(0, -1));
  const wanted = { path, toPath: `${to.replace(/\/+$/, "")}/` };
  const move = async () => {
    const done = await folders.move(set.id, wanted);
    close();
    navigate(folderAddress(set.id, done.path), { replace: true });
    announce(set, done, above(path) === above(done.path) ? "Renamed to" : "Moved to", () => folders.move(set.id, { path: done.path, toPath: path }), path);
  };
  const copy = async () => {
    const done = await folders.copy(set.id, wanted);
    announce(set, done, "Copied to", () => folders.remove(set.id, { path: done.path }), path);
    close();
  };
  return (
    <Dialog title={`Rename, move or copy ${nameOf(path)}`} onClose={close}>
      <Form action="Move" also={{ action: "Copy", submit: copy }} submit={move} onCancel={close} disabled={!to || wanted.toPath === path} covers={(field) => field === "toPath" || field === "path"}>
        {(errorOf) => (
          <Field label="Path" hint="Relative to the set, such as raw/2026. Missing folders are created." error={errorOf("toPath") ?? errorOf("path")}>
            {(a) => <input {...a} required autofocus spellcheck={false} value={to} onInput={(e) => setTo(e.currentTarget.value)} />}
          </Field>
        )}
      </Form>
    </Dialog>
  );
}

function DeleteFolder({ set, path, close }: { set: DataSet; path: string; close: () => void }) {
  const remove = async () => {
    const done = await folders.remove(set.id, { path });
    close();
    navigate(folderAddress(set.id, above(path)), { replace: true });
    notifyChange(set.id);
    notify(
      <p>
        Deleted {nameOf(path)}, {plural(done.files, "file", "files")}. <Link to={folderAddress(set.id, path, "deleted")}>Show its content</Link>
      </p>,
      {
        label: "Undo",
        run: async () => {
          const back = await folders.restore(done);
          navigate(folderAddress(set.id, path));
          notifyChange(set.id);
          return <p>Undone: {plural(back.files, "file is", "files are")} back.</p>;
        },
      },
    );
  };
  return (
    <Confirm title={`Delete the folder ${nameOf(path)}?`} action="Delete" submit={remove} close={close}>
      <p>All files in it and below go to the trash, where they can be restored until a sysadmin purges old deletions.</p>
    </Confirm>
  );
}
