// Resolves relative references in a file to other files of the same set. Independent of the page.

export interface Reference {
  /** The name in the set; a folder ends with "/", and "" is the file itself. */
  name: string;
  /** With its "#", or "". */
  fragment: string;
}

/** A reference as a name in the set; undefined for absolute addresses and for paths outside of the
    set. */
export function referenceOf(reference: string, from: string): Reference | undefined {
  const text = reference.replace(/[\0-\x1f]/g, "").trim();
  if (!text || text.length > 2000 || /^(?:[a-z][a-z\d+.-]*:|[/\\]{2}|\\|\?)/i.test(text)) return undefined;
  const [, path = "", fragment = ""] = /^([^#?]*)(?:\?[^#]*)?(#.*)?$/.exec(text) ?? [];
  if (!path) return { name: "", fragment };
  const parts = path.startsWith("/") ? [] : from.split("/").slice(0, -1);
  const names = decoded(path).split("/");
  for (const [i, name] of names.entries()) {
    if (name === "..") {
      if (!parts.pop()) return undefined;
    } else if (name && name !== ".") {
      parts.push(name);
    }
    if (i === names.length - 1 && (name === "" || name === "." || name === "..")) parts.push("");
  }
  const name = parts.join("/");
  return name && name.length <= 1000 ? { name, fragment } : undefined;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
