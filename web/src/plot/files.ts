// Which files can be plotted together, and the address of such a plot. This module is small, since lists of files use it.
import type { Resource } from "../api";

/** Files in one plot at most. */
export const maxFiles = 6;

/** Whether a file can be plotted with others, by its name and type. */
export const isTable = (r: Resource) =>
  r.state === "active" && (/\.(csv|tsv|tab|psv|dat|xvg|xy|asc)$/i.test(r.name) || /^text\/(csv|tab-separated-values)/.test(r.mimetype));

export const plotAddress = ([first, ...others]: Resource[]) => `/resources/${first!.id}?view=plot&with=${others.map((r) => r.id).join("_")}`;
