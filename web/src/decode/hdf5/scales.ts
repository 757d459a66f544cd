// Relations between the items of an HDF5 file: dimension scales, soft links, and the default data
// of NeXus files.
import type { Item } from "../../sight/messages";

/** Items by the addresses of their objects, and by their paths. */
export interface Known {
  addresses: Map<number, Item>;
  paths: Map<string, Item>;
}

const attribute = (item: Item | undefined, name: string) => item?.attributes?.find(([n]) => n === name)?.[1].trim();

/** Scales of NetCDF 4 dimensions without a variable. */
const isBare = (scale: Item) => attribute(scale, "NAME")?.startsWith("This is a netCDF dimension but not a netCDF variable") ?? false;

/** Names the dimensions of arrays after their scales, whose values are the coordinates. */
export function joinScales({ addresses, paths }: Known) {
  for (const [path, item] of paths) {
    const rank = item.shape?.length ?? 0;
    if (!rank || item.columns) continue;
    const lists = attribute(item, "DIMENSION_LIST")?.match(/\[[^\]]*\]/g);
    const isScale = rank === 1 && attribute(item, "CLASS") === "DIMENSION_SCALE";
    if (lists?.length === rank) {
      const scales = lists.map((list) => addresses.get(Number(/→ (\d+)/.exec(list)?.[1] ?? -1)));
      item.dimensions = scales.map((scale, i) => scale?.name ?? `dimension ${i + 1}`);
      item.axes = scales.map((scale) => (scale && !isBare(scale) && scale.shape?.length === 1 ? scale.id : undefined));
    } else if (isScale) {
      item.dimensions = [path.slice(path.lastIndexOf("/") + 1)];
      if (isBare(item)) {
        item.about = `a dimension of length ${item.shape![0]}`;
        item.why = "This is a dimension without values.";
      } else item.axes = [item.id];
    }
  }
}

/** Resolves soft links.
    @param again creates another id for the same array, since each item has its own */
export function followLinks({ paths }: Known, again: (id: number) => number) {
  for (const [path, item] of paths) {
    let target: Item | undefined = item;
    for (let n = 0, at = path; target && n < 16 && target.about.startsWith("→ ") && target.id === undefined; n++) {
      const to = target.about.slice(2);
      at = resolved(to.startsWith("/") ? to : `${at.slice(0, at.lastIndexOf("/"))}/${to}`);
      target = paths.get(at);
    }
    if (target && target !== item && target.id !== undefined) Object.assign(item, { ...target, id: again(target.id), name: item.name, about: `${item.about} (${target.about})` });
  }
}

function resolved(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

const isData = (item: Item | undefined) => attribute(item, "NX_class") === "NXdata";
const childOf = (group: Item | undefined, name: string | undefined) => (name ? group?.items?.find((i) => i.name === name) : undefined);
const list = (text: string | undefined) => (text ? text.replace(/^\[|\]$/g, "").split(/\s*[,:]\s*/) : []);

/** The signal of a NeXus data group. */
function signalOf(data: Item): Item | undefined {
  const named = childOf(data, attribute(data, "signal")) ?? data.items?.find((i) => attribute(i, "signal") === "1") ?? childOf(data, "data");
  return named?.id === undefined ? undefined : named;
}

/** Assigns the coordinates that a NeXus data group names to its signal. */
export function joinAxes({ paths }: Known) {
  for (const data of paths.values()) {
    const signal = isData(data) ? signalOf(data) : undefined;
    const shape = signal?.shape;
    if (!signal || !shape || signal.columns) continue;
    const names = list(attribute(data, "axes") ?? attribute(signal, "axes"));
    const found = names.length ? names : shape.map((_, i) => data.items!.find((x) => attribute(x, "axis") === String(i + 1) && x.shape?.length === 1 && x.shape[0] === shape[i])?.name ?? ".");
    if (found.length !== shape.length || found.every((name) => name === ".")) continue;
    signal.dimensions = found.map((name, i) => (name === "." ? `dimension ${i + 1}` : name));
    signal.axes = found.map((name, i) => {
      const axis = childOf(data, name);
      const length = axis?.shape?.length === 1 ? axis.shape[0]! : -1;
      // bin edges have one value more
      return length === shape[i] || length === shape[i]! + 1 ? axis!.id : undefined;
    });
  }
}

/** The array that a NeXus file shows first: by `default` of its groups and `signal` of its
    data, or else the signal of the first data group. */
export function defaultSignal(root: Item): Item | undefined {
  let at: Item | undefined = root;
  for (let n = 0; at && n < 32; n++) {
    if (isData(at)) return signalOf(at);
    const named: Item | undefined = childOf(at, attribute(at, "default"));
    if (named?.id !== undefined) return named;
    if (!named) break;
    at = named;
  }
  const search = (group: Item): Item | undefined => {
    for (const item of group.items ?? []) {
      const found = (isData(item) && signalOf(item)) || (item.items && search(item));
      if (found) return found;
    }
    return undefined;
  };
  return (at && search(at)) ?? search(root);
}
