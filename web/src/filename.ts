// The name under which a file is downloaded; the service sends the same one (Content-Disposition).
import type { Resource } from "./api";

const extension = (name: string) => /^.+(\.[^.]+)$/.exec(name)?.[1] ?? "";

/** The last element of the resource name; without an extension, the extension of the file name is added. */
export function downloadName({ name, filename, id }: Pick<Resource, "name" | "filename" | "id">): string {
  const last = name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf("\\")) + 1);
  if (["", ".", ".."].includes(last)) return filename || id;
  return extension(last) ? last : last + extension(filename);
}
