// Under which name a file is saved. The service offers it under the same one (Content-Disposition).
import type { Resource } from "./api";

const extension = (name: string) => /^.+(\.[^.]+)$/.exec(name)?.[1] ?? "";

/** The last element of the name; where that has no extension, with the one of the file name. */
export function savedAs({ name, filename, id }: Pick<Resource, "name" | "filename" | "id">): string {
  const last = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  if (["", ".", ".."].includes(last)) return filename || id;
  return extension(last) ? last : last + extension(filename);
}
