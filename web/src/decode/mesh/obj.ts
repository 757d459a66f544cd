// OBJ: points with optional colours, and faces, which are split into triangles. Material files are
// not read.
import { Refused } from "../lib/serve";
import { checkPoints, checkTriangles, type Surface } from "./surface";
import { Scanner } from "./words";

export function obj(bytes: Uint8Array<ArrayBuffer>): Surface {
  const points: number[] = [];
  const colours: number[] = [];
  const corners: number[] = [];
  const names = new Set<string>();
  let [faces, materials, other] = [0, 0, 0];
  const index = (word: string) => {
    const given = parseInt(word, 10);
    const found = given < 0 ? points.length / 3 + given : given - 1;
    if (!(found >= 0 && found < points.length / 3)) throw new Refused(`A face refers to the point ${word.slice(0, 30)}, which does not exist.`);
    return found;
  };
  const lines = new Scanner(bytes);
  while (!lines.ended) {
    let words = lines.words();
    while (words.at(-1)?.endsWith("\\") && !lines.ended) words = [...words.slice(0, -1), words.at(-1)!.slice(0, -1), ...lines.words()].filter(Boolean);
    const [kind, ...rest] = words;
    if (kind === "v") {
      const values = rest.map(Number);
      if (values.length < 3 || values.slice(0, 3).some(Number.isNaN)) throw new Refused(`A point does not have three coordinates: ${rest.join(" ").slice(0, 60)}`);
      for (let axis = 0; axis < 3; axis++) points.push(values[axis]!);
      if (values.length >= 6) colours.push(...values.slice(-3));
      checkPoints(points.length / 3);
    } else if (kind === "f") {
      const around = rest.map(index);
      for (let i = 2; i < around.length; i++) corners.push(around[0]!, around[i - 1]!, around[i]!);
      faces++;
      checkTriangles(corners.length / 3);
    } else if ((kind === "o" || kind === "g") && rest.length) {
      names.add(rest.join(" "));
    } else if (kind === "usemtl") {
      materials++;
    } else if (kind === "l" || kind === "p" || kind === "curv" || kind === "surf") {
      other++;
    }
  }
  if (!points.length) throw new Refused("It has no points: no line starts with v.");
  const surface: Surface = { points, corners, title: "", facts: [["format", "OBJ"], ["faces", String(faces)]], notes: [] };
  if (names.size) surface.facts.push(["objects and groups", `${names.size}: ${[...names].slice(0, 50).join(", ")}`.slice(0, 1000)]);
  if (materials) surface.notes.push("Its materials are in another file and are not shown.");
  if (other) surface.notes.push("Its lines and curves are not shown.");
  if (colours.length === points.length) surface.colours = Uint8Array.from(colours, (c) => Math.max(0, Math.min(255, Math.round(255 * c))));
  return surface;
}
