// Surfaces: STL, PLY and OBJ. The file is read as a whole.
import { Refused, serve, whole } from "./lib/serve";
import { obj } from "./mesh/obj";
import { ply } from "./mesh/ply";
import { stl } from "./mesh/stl";
import { modelOf, type Surface } from "./mesh/surface";

const readers: Record<string, (bytes: Uint8Array<ArrayBuffer>) => Surface> = { stl, ply, obj };

serve(async (input) => {
  const extension = /\.(\w+)$/.exec(input.name)?.[1]?.toLowerCase() ?? "";
  const read = readers[extension];
  if (!read) throw new Refused("Its file name extension is not supported.");
  const model = modelOf(read(await whole(input)), extension === "stl");
  const about = model.facts.find(([name]) => name === "format")?.[1] ?? "";
  return { content: { view: "model", about, attributes: [], frames: 1, frame: "model", forms: [], form: 0, model } };
});
