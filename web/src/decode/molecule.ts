// Structures of atoms: PDB, mmCIF, small-molecule CIF, XYZ, MOL and SDF. The file is read as a
// whole, its models one at a time.
import type { Chosen, Part, Selection } from "../sight/messages";
import { Refused, serve, whole } from "./lib/serve";
import type { Structure } from "./molecule/atoms";
import { cif } from "./molecule/cif";
import type { Molecules } from "./molecule/frames";
import { mol } from "./molecule/mol";
import { pdb } from "./molecule/pdb";
import { xyz } from "./molecule/xyz";

const readers: [extensions: RegExp, read: (text: string) => Molecules][] = [
  [/\.(pdb|ent)$/i, pdb],
  [/\.(cif|mmcif|mcif)$/i, cif],
  [/\.(xyz|extxyz)$/i, xyz],
  [/\.(mol|mdl|sdf|sd)$/i, mol],
];

/** A part of the table of atoms. */
function tableOf(s: Structure, { from, count }: Selection): Part {
  const columns = s.columns().slice(from[1], from[1] + count[1]);
  const height = Math.max(0, Math.min(count[0], s.length - from[0]));
  const values = Array.from({ length: height * columns.length }, (_, i) => columns[i % columns.length]![1](from[0] + Math.floor(i / columns.length)));
  return { values, height, width: columns.length, step: [1, 1] };
}

serve(async (input) => {
  // detected by the first bytes
  const read = readers.find(([extensions]) => extensions.test(input.name))?.[1] ?? pdb;
  const text = new TextDecoder().decode(await whole(input));
  if (text.includes("\0")) throw new Refused("It is not text.");
  const molecules = read(text);
  const { about, attributes, frames, frame, form = 0 } = molecules;
  const forms = molecules.forms ?? [molecules];
  let shown: { key: number; structure: Structure } | undefined;
  const structure = (key: number) => {
    if (shown?.key !== key) shown = { key, structure: forms[key % forms.length]!.read(Math.floor(key / forms.length)) };
    return shown.structure;
  };
  const keyOf = (chosen: Chosen) => chosen.frame * forms.length + chosen.form;
  const model = structure(keyOf({ frame: 0, form })).model();
  return {
    content: { view: "model", about, attributes, frames, frame, forms: molecules.forms?.map((f) => f.name) ?? [], form, model },
    model: async (chosen) => structure(keyOf(chosen)).model(),
    slice: async (selection) => tableOf(structure(selection.id), selection),
  };
});
