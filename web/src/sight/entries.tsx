// The files of an archive as a tree. One of them is shown or downloaded.
import { useMemo, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { plural, size } from "../format";
import type { ViewerProps } from "../preview/props";
import { setQuery, useLocation } from "../router";
import { Button, ErrorMessage, Size, Skeleton } from "../ui/components";
import { useAnswer } from "./answers";
import type { Decoder } from "./decoder";
import type { Content, Entry } from "./messages";

interface Props extends ViewerProps {
  decoder: Decoder;
  content: Content & { view: "entries" };
}

interface Folder {
  name: string;
  folders: Map<string, Folder>;
  files: number[];
  count: number;
  bytes: number;
}

/** The number of names of a folder per step. */
const batch = 200;

/** The maximum nesting of folders in the tree. */
const maxDepth = 40;

const newFolder = (name: string): Folder => ({ name, folders: new Map(), files: [], count: 0, bytes: 0 });

function foldersOf(entries: Entry[]): Folder {
  const root = newFolder("");
  entries.forEach(({ path, bytes }, i) => {
    if (path.endsWith("/")) return; // a separate folder
    let at = root;
    for (const name of [...path.split("/").slice(0, -1).slice(0, maxDepth).filter(Boolean), undefined]) {
      at.count++;
      at.bytes += bytes;
      if (name === undefined) break;
      const inner = at.folders.get(name) ?? newFolder(name);
      at.folders.set(name, inner);
      at = inner;
    }
    at.files.push(i);
  });
  return root;
}

const baseName = (path: string) => path.slice(path.lastIndexOf("/") + 1) || path;

export function Entries({ file, decoder, content, Preview }: Props) {
  const { entries, about } = content;
  const root = useMemo(() => foldersOf(entries), [entries]);
  const { query } = useLocation();
  const [local, setLocal] = useState(-1);
  const nested = file.content !== undefined; // the address belongs to the outer archive
  const chosen = nested ? local : query.has("entry") ? Number(query.get("entry")) : -1;
  const choose = (id: number) => (nested ? setLocal(id) : setQuery({ entry: id < 0 ? "" : String(id), item: "", view: "", slice: "" }));
  const entry = entries[chosen];
  return (
    <>
      <div class="preview-tools">
        <span class="dim">
          {plural(root.count, "file")} · {size(root.bytes)} unpacked{about && ` · ${about}`}
        </span>
      </div>
      <div class={`sides ${entry ? "both" : ""}`}>
        <div class="tree entries" tabIndex={0} role="region" aria-label="Files of the archive">
          <FolderView folder={root} entries={entries} chosen={chosen} choose={choose} depth={0} />
        </div>
        {entry && <EntryView key={chosen} archive={file} decoder={decoder} id={chosen} entry={entry} Preview={Preview} close={() => choose(-1)} />}
      </div>
    </>
  );
}

interface FolderProps {
  folder: Folder;
  entries: Entry[];
  chosen: number;
  choose: (id: number) => void;
  depth: number;
}

function FolderView({ folder, entries, chosen, choose, depth }: FolderProps) {
  const [shown, setShown] = useState(batch);
  const folders = [...folder.folders.values()];
  const rest = folders.length + folder.files.length - shown;
  return (
    <>
      {folders.slice(0, shown).map((inner) => (
        <InnerFolder key={inner.name} {...{ folder: inner, entries, chosen, choose, depth }} />
      ))}
      {folder.files.slice(0, Math.max(0, shown - folders.length)).map((id) => {
        const entry = entries[id]!;
        return (
          <div class="leaf member" key={id}>
            <button type="button" class="link" aria-pressed={id === chosen} onClick={() => choose(id)} title={entry.why ?? entry.path}>
              {baseName(entry.path)}
            </button>
            <span class="dim num">
              <Size bytes={entry.bytes} />
            </span>
            <span class="dim num time">{entry.modified}</span>
          </div>
        );
      })}
      {rest > 0 && (
        <Button kind="quiet" onClick={() => setShown(shown + 5 * batch)}>
          {plural(rest, "more name")}
        </Button>
      )}
    </>
  );
}

function InnerFolder(props: FolderProps) {
  const { folder, depth } = props;
  const [open, setOpen] = useState(folder.count <= 30);
  return (
    <details open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <span class="key">{folder.name}/</span>{" "}
        <span class="dim">
          {plural(folder.count, "file")}, {size(folder.bytes)}
        </span>
      </summary>
      {open && <div><FolderView {...props} depth={depth + 1} /></div>}
    </details>
  );
}

interface EntryProps {
  archive: StoredFile;
  decoder: Decoder;
  id: number;
  entry: Entry;
  Preview: ViewerProps["Preview"];
  close: () => void;
}

/** Types that the extension alone cannot identify. */
const types: Record<string, string> = { pdf: "application/pdf" };

function EntryView({ archive, decoder, id, entry, Preview, close }: EntryProps) {
  const { answer, problem } = useAnswer(decoder, "entry", entry.why ? undefined : id);
  const name = baseName(entry.path);
  const file = useMemo(() => {
    if (!answer) return undefined;
    const mimetype = types[name.slice(name.lastIndexOf(".") + 1).toLowerCase()] ?? "application/octet-stream";
    const content = new Blob([answer], { type: mimetype });
    return { dataUrl: `${archive.dataUrl}#${id}`, sha256: `${archive.sha256}-${id}`, name, filename: name, description: "", mimetype, bytes: content.size, content };
  }, [answer]);
  return (
    <section class="side" aria-label="File of the archive">
      <div class="preview-tools">
        <h2 class="preserve">{entry.path}</h2>
        <span class="zoom">
          {file && (
            <Button icon="download" kind="quiet" onClick={() => save(file.content, name)}>
              Download
            </Button>
          )}
          <Button kind="quiet" onClick={close}>
            Close
          </Button>
        </span>
      </div>
      {entry.why ? <p class="hint">It cannot be read here. {entry.why}</p> : problem ? <ErrorMessage problem={problem} /> : !file ? <Skeleton lines={8} /> : Preview && <Preview file={file} Preview={Preview} />}
    </section>
  );
}

function save(content: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" })); // never shown as a page
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
