// The target of a new link.
import type { DataSet, Resource } from "../api";
import { plural } from "../format";

/** A set, a folder of it, or some of its files. */
export interface Target {
  set: Pick<DataSet, "id" | "name" | "title">;
  folder?: string;
  files?: Resource[];
}

export const nameOf = ({ set, files }: Target) => (files ? (files.length === 1 ? files[0]!.name : plural(files.length, "file")) : set.title || set.name);
