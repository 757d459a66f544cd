// STL: triangles with three corners each, binary or text. Normals are derived from the corners.
import { Refused } from "../lib/serve";
import { checkTriangles, type Surface } from "./surface";
import { Scanner } from "./words";

const [header, each] = [84, 50];

export function stl(bytes: Uint8Array<ArrayBuffer>): Surface {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length >= header ? view.getUint32(80, true) : 0;
  const isText = /^\s*solid/.test(new TextDecoder("latin1").decode(bytes.subarray(0, 80))) && bytes.length !== header + each * count;
  return isText ? ofText(bytes) : ofBytes(bytes, view, count);
}

const sequence = (length: number) => new Uint32Array(length).map((_, i) => i);

function ofBytes(bytes: Uint8Array, view: DataView, count: number): Surface {
  if (bytes.length < header) throw new Refused("It is too short for an STL file.");
  if (bytes.length < header + each * count) throw new Refused(`It ends before all ${count} triangles.`);
  checkTriangles(count);
  const points = new Float32Array(9 * count);
  for (let i = 0; i < count; i++) for (let k = 0; k < 9; k++) points[9 * i + k] = view.getFloat32(header + each * i + 12 + 4 * k, true);
  const title = new TextDecoder().decode(bytes.subarray(0, 80)).replace(/[\0-\x1f]+/g, " ").trim();
  return { points, corners: sequence(3 * count), title, facts: [["format", "binary STL"]], notes: [] };
}

function ofText(bytes: Uint8Array): Surface {
  const words = new Scanner(bytes);
  const points: number[] = [];
  let [solids, title, open] = [0, "", 0];
  for (let word = words.next(); word; word = words.next()) {
    if (word === "vertex") {
      points.push(words.number(), words.number(), words.number());
      open++;
    } else if (word === "endfacet") {
      if (open !== 3) throw new Refused("One of its facets does not have three corners.");
      open = 0;
      checkTriangles(points.length / 9);
    } else if (word === "solid") {
      const rest = words.line();
      if (!solids++) title = rest;
    } else if (word === "endsolid") {
      words.line();
    }
  }
  if (open) throw new Refused("It ends within a facet.");
  if (!points.length) throw new Refused("It has no triangles.");
  return { points, corners: sequence(points.length / 3), title, facts: [["format", "STL as text"], ...(solids > 1 ? [["solids", String(solids)] as [string, string]] : [])], notes: [] };
}
