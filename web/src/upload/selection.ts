// Files and folders that the user has dropped or selected, with their paths.

export interface SelectedFile {
  file: File;
  /** The path within the folder, such as 2026-10/a.csv, or the name of a single file. It becomes the name of the resource. */
  path: string;
}

/** A file or folder that the browser could not read. */
export interface Unreadable {
  path: string;
  error: string;
}

export interface Selection {
  files: SelectedFile[];
  unreadable: Unreadable[];
}

const sorted = (all: SelectedFile[]) => all.sort((a, b) => (a.path < b.path ? -1 : 1));

/** The files of an <input type=file>, with or without webkitdirectory. */
export function fromInput(list: FileList): Selection {
  return { files: sorted([...list].map((file) => ({ file, path: file.webkitRelativePath || file.name }))), unreadable: [] };
}

/** The files of the clipboard. A copied picture has no name of its own: it gets one by the time. */
export function fromClipboard(list: FileList, now = new Date()): Selection {
  const at = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace("T", " ").replaceAll(":", ".");
  const named = (file: File) => (/^image\.\w+$/.test(file.name) ? file.name.replace("image", `pasted ${at}`) : file.name);
  return { files: sorted([...list].map((file) => ({ file, path: named(file) }))), unreadable: [] };
}

/** All files of a drop, including folders. It reads the items before the first await: afterwards
    the transfer is empty. */
export async function fromDrop(transfer: DataTransfer): Promise<Selection> {
  const selection: Selection = { files: [], unreadable: [] };
  const entries: FileSystemEntry[] = [];
  for (const item of transfer.items) {
    if (item.kind !== "file") continue;
    const entry = item.webkitGetAsEntry();
    if (entry) entries.push(entry);
    else selection.unreadable.push({ path: item.getAsFile()?.name || "unknown", error: "The browser cannot find it." });
  }
  for (const entry of entries) await walk(entry, selection);
  sorted(selection.files);
  return selection;
}

/** Adds the files of an entry. After an error it continues with the rest. */
async function walk(entry: FileSystemEntry, selection: Selection): Promise<void> {
  const path = entry.fullPath.replace(/^\//, "");
  try {
    if (entry.isFile) selection.files.push({ file: await fileOf(entry as FileSystemFileEntry), path });
    else await walkFolder(entry as FileSystemDirectoryEntry, selection);
  } catch (thrown) {
    selection.unreadable.push({ path, error: (thrown as DOMException).message });
  }
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

async function walkFolder(entry: FileSystemDirectoryEntry, selection: Selection): Promise<void> {
  const reader = entry.createReader();
  for (;;) {
    // Each call returns about a hundred entries; an empty result means the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const inner of some) await walk(inner, selection);
  }
}

/** Files of operating systems, which are not uploaded. */
const systemFiles = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);

export const isSystemFile = (p: SelectedFile) => systemFiles.has(p.path.slice(p.path.lastIndexOf("/") + 1));
