// Decides which files can be plotted together, and builds the address of such a plot. This module
// is small, because lists of files load it.
import type { Resource } from "../api";

/** The maximum number of files in one plot. */
export const maxFiles = 6;

/** Whether a file can be plotted with others, by its name and type. */
export const isTable = (r: Resource) =>
  r.state === "active" && (/\.(csv|tsv|tab|psv|dat|xvg|xy|asc)$/i.test(r.name) || /^text\/(csv|tab-separated-values)/.test(r.mimetype));

export const plotAddress = ([first, ...others]: Resource[]) => `/resources/${first!.id}?view=plot&with=${others.map((r) => r.id).join("_")}`;
