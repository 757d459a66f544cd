// HDF5, also used by NetCDF 4 and MATLAB 7.3: the tree of groups, and slices of datasets, read by
// ranges.
import type { Attribute, Item } from "../sight/messages";
import { type Dataset, datasetOf, sliceOf } from "./hdf5/dataset";
import { File } from "./hdf5/file";
import { attributesOf, linksOf, type Message, messagesOf, spaceOf, typeOf } from "./hdf5/objects";
import { defaultSignal, followLinks, joinAxes, joinScales, type Known } from "./hdf5/scales";
import { shapeText } from "./lib/arrays";
import { firstVariable, meaningOf, packingOf } from "./lib/cf";
import { type Input, Refused, serve } from "./lib/serve";

/** Limits: listed objects, and nesting of groups. */
const maxObjects = 5_000;
const maxDepth = 32;

class Tree {
  readonly datasets: Dataset[] = [];
  readonly known: Known = { addresses: new Map(), paths: new Map() };
  /** NetCDF has its own rules for values that were never written. */
  isNetCDF = false;
  private objects = 0;
  private readonly open = new Set<number>();

  constructor(
    private readonly file: File,
    private readonly input: Input,
  ) {}

  /** The item of an object. An error is reported in its place. */
  async item(name: string, address: number, path = ""): Promise<Item> {
    const item = await this.found(name, address, path);
    if (!this.known.addresses.has(address)) this.known.addresses.set(address, item);
    this.known.paths.set(path, item);
    return item;
  }

  private async found(name: string, address: number, path: string): Promise<Item> {
    if (++this.objects > maxObjects) return { name, about: "", why: `These are the first ${maxObjects} objects of this file.` };
    if (this.open.has(address) || this.open.size > maxDepth) return { name, about: "a group that contains this one" };
    this.open.add(address);
    try {
      return await this.read(name, address, path);
    } catch (thrown) {
      if (this.open.size === 1) throw thrown; // the whole file is unreadable
      return { name, about: "not readable", why: thrown instanceof Error ? thrown.message : String(thrown) };
    } finally {
      this.open.delete(address);
    }
  }

  private async read(name: string, address: number, path: string): Promise<Item> {
    const messages = await messagesOf(this.file, address);
    const attributes = await attributesOf(this.file, messages);
    if (!path && attributes.some(([name]) => name === "_NCProperties")) this.isNetCDF = true;
    const space = messages.find((m) => m.kind === 1);
    const type = messages.find((m) => m.kind === 3);
    if (space && type) return { ...(await this.dataset(name, messages, type, space, attributes)), attributes };
    const links = await linksOf(this.file, messages);
    if (!links) return { name, attributes, about: type ? "a type" : "" };
    const items: Item[] = [];
    for (const link of links) {
      if (this.objects > maxObjects) break;
      const inner = `${path}/${link.name}`;
      const item = link.address === undefined ? { name: link.name, about: `→ ${link.to}` } : await this.item(link.name, link.address, inner);
      this.known.paths.set(inner, item);
      items.push(item);
    }
    return { name, attributes, items, about: `${links.length} ${links.length === 1 ? "object" : "objects"}` };
  }

  private async dataset(name: string, messages: Message[], typeMessage: Message, space: Message, attributes: Attribute[]): Promise<Item> {
    const type = await typeOf(this.file, typeMessage);
    const extent = spaceOf(space.body);
    if (!extent) return { name, about: `${type.name}, no values` };
    const { shape } = extent;
    const set = datasetOf(this.file, this.input, messages, extent, type);
    set.packing = type.type && packingOf(type.type, attributes, this.isNetCDF);
    const id = this.datasets.push(set) - 1;
    const columns = type.members && shape.length === 1 ? type.members.map((m) => m.name) : undefined;
    const about = `${type.type ? "" : "text"}${type.type ? type.name : ` (${type.name})`}, ${shapeText(shape)}`;
    const item: Item = { name, about: columns ? `table of ${shape[0]} rows, ${columns.length} columns` : about, shape };
    if (set.why) return { ...item, why: set.why };
    if (columns) return { ...item, id, columns, shape: [...shape, columns.length] };
    return { ...item, id, ...meaningOf(attributes, set.packing) };
  }
}

const whatOf = (root: Item, input: Input) =>
  root.attributes?.some(([name]) => name === "_NCProperties") || /\.nc4?$/i.test(input.name) ? "NetCDF 4 (HDF5)" : /\.mat$/i.test(input.name) ? "MATLAB 7.3 (HDF5)" : "HDF5";

serve(async (input) => {
  const file = await new File(input).open();
  const tree = new Tree(file, input);
  tree.isNetCDF = /\.nc4?$/i.test(input.name);
  const root = await tree.item("/", file.root);
  if (!root.items) throw new Refused("It has no groups.");
  joinScales(tree.known);
  followLinks(tree.known, (id) => tree.datasets.push(tree.datasets[id]!) - 1);
  joinAxes(tree.known);
  const first = defaultSignal(root)?.id ?? firstVariable([...tree.known.paths.values()].filter((i) => !i.items));
  return {
    content: { view: "tree", about: `${whatOf(root, input)}, ${root.about}`, attributes: root.attributes ?? [], items: root.items, ...(first !== undefined && { first }) },
    slice: (s) => sliceOf(file, tree.datasets[s.id]!, s),
  };
});
