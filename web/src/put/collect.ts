// What somebody dropped or picked, with the paths that it has within the folder that came.

export interface Picked {
  file: File;
  /** Such as 2026-10/a.csv; the name of a file that came alone. It becomes the name of the resource. */
  path: string;
}

const sorted = (all: Picked[]) => all.sort((a, b) => (a.path < b.path ? -1 : 1));

/** Files of an <input type=file>, with or without webkitdirectory. */
export function fromInput(list: FileList): Picked[] {
  return sorted([...list].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
}

/** Everything in a drop, folders to their end. It reads the transfer before it waits for the first time: afterwards it is empty. */
export async function fromDrop(transfer: DataTransfer): Promise<Picked[]> {
  const entries: FileSystemEntry[] = [];
  for (const item of transfer.items) {
    const entry = item.kind === "file" ? item.webkitGetAsEntry() : null;
    if (entry) entries.push(entry);
  }
  const found: Picked[] = [];
  for (const entry of entries) await walk(entry, found);
  return sorted(found);
}

async function walk(entry: FileSystemEntry, found: Picked[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ file, path: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A call brings some of them, about a hundred; none means the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return;
    for (const inner of some) await walk(inner, found);
  }
}

/** Files that systems leave in folders for themselves. They are counted, and left out. */
const litter = new Set([".DS_Store", "Thumbs.db", "desktop.ini"]);

export const isLitter = (p: Picked) => litter.has(p.path.slice(p.path.lastIndexOf("/") + 1));
