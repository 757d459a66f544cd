// What somebody dropped or picked, with the paths that it has within the folder that came.

export interface Picked {
  file: File;
  /** Such as 2026-10/a.csv; the name of a file that came alone. It becomes the name of the resource. */
  path: string;
}

/** Something in a drop that the browser could not read: a file, or a folder with all that is in it. */
export interface Unread {
  path: string;
  why: string;
}

export interface Found {
  picked: Picked[];
  unread: Unread[];
}

const sorted = (all: Picked[]) => all.sort((a, b) => (a.path < b.path ? -1 : 1));

/** Files of an <input type=file>, with or without webkitdirectory. */
export function fromInput(list: FileList): Found {
  return { picked: sorted([...list].map((file) => ({ file, path: file.webkitRelativePath || file.name }))), unread: [] };
}

/**
 * Everything in a drop, folders to their end, and what of it cannot be read. It reads the transfer before it waits for the first time:
 * afterwards it is empty.
 */
export async function fromDrop(transfer: DataTransfer): Promise<Found> {
  const found: Found = { picked: [], unread: [] };
  const entries: FileSystemEntry[] = [];
  for (const item of transfer.items) {
    if (item.kind !== "file") continue;
    const entry = item.webkitGetAsEntry();
    if (entry) entries.push(entry);
    else found.unread.push({ path: item.getAsFile()?.name || "a part of the drop", why: "The browser cannot find it." });
  }
  for (const entry of entries) await walk(entry, found);
  sorted(found.picked);
  return found;
}

/** Adds what an entry holds. What cannot be read does not end it: the rest is there all the same. */
async function walk(entry: FileSystemEntry, found: Found): Promise<void> {
  const path = entry.fullPath.replace(/^\//, "");
  try {
    if (entry.isFile) found.picked.push({ file: await fileOf(entry as FileSystemFileEntry), path });
    else await walkFolder(entry as FileSystemDirectoryEntry, found);
  } catch (thrown) {
    found.unread.push({ path, why: (thrown as DOMException).message });
  }
}

const fileOf = (entry: FileSystemFileEntry) => new Promise<File>((resolve, reject) => entry.file(resolve, reject));

async function walkFolder(entry: FileSystemDirectoryEntry, found: Found): Promise<void> {
  const reader = entry.createReader();
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
