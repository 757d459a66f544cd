// CIF for small molecules and macromolecules (mmCIF): blocks of names with values, and tables.
import type { Attribute } from "../../sight/messages";
import { Refused } from "../lib/serve";
import { type Cell, Structure } from "./atoms";
import { edgesOf, type Operation, operationOf, orbitOf, type Place, placeOf, withImages } from "./cell";
import { type Block, blocksOf } from "./ciftext";
import type { Form, Molecules } from "./frames";

const said: Record<string, string> = {
  "_entry.id": "identifier", "_struct.title": "title", "_exptl.method": "method", "_struct_keywords.pdbx_keywords": "classification",
  "_chemical_name_common": "name", "_chemical_name_systematic": "name", "_chemical_name_mineral": "mineral", "_chemical_formula_sum": "formula of the crystal",
  "_symmetry_space_group_name_h-m": "space group", "_space_group_name_h-m_alt": "space group", "_symmetry.space_group_name_h-m": "space group",
  "_cell_measurement_temperature": "temperature in K", "_publ_section_title": "title", "_database_code_depnum_ccdc_archive": "CCDC",
};

/** A number without the uncertainty in brackets; NaN if it is missing. */
const numberIn = (text: string | undefined) => (text === undefined || text === "." || text === "?" || text === "" ? NaN : Number(text.replace(/\(.*$/, "")));

function valuesOfCell(block: Block): number[] | undefined {
  const names = ["length_a", "length_b", "length_c", "angle_alpha", "angle_beta", "angle_gamma"];
  const values = names.map((name) => numberIn((block.get(`_cell.${name}`) ?? block.get(`_cell_${name}`))?.[0]));
  return values.every((v) => v > 0) ? values : undefined;
}

/** The cell of a crystal. In mmCIF, a cell of 1 Å means no cell. */
function cellOf(block: Block): Cell | undefined {
  const values = valuesOfCell(block);
  return values && values[0] !== 1 ? edgesOf(values) : undefined;
}

function attributesOf(block: Block): Attribute[] {
  const found = new Map<string, string>();
  for (const [name, label] of Object.entries(said)) {
    const value = block.get(name)?.[0]?.replace(/\s+/g, " ").trim();
    if (value && value !== "?" && value !== "." && !found.has(label)) found.set(label, value);
  }
  const values = cellOf(block) && valuesOfCell(block);
  if (values) found.set("cell", `a ${values[0]} Å, b ${values[1]} Å, c ${values[2]} Å, α ${values[3]}°, β ${values[4]}°, γ ${values[5]}°`);
  return [...found];
}

/** The values of the first of these columns that exists; "." and "?" mean missing. */
function column(block: Block, ...names: string[]): (row: number) => string {
  const values = names.map((name) => block.get(name)).find(Boolean);
  return (row) => {
    const value = values?.[row] ?? "";
    return value === "." || value === "?" ? "" : value;
  };
}

interface Run {
  block: Block;
  from: number;
  to: number;
  name: string;
}

/** The rows of each model of a block. */
function runsOf(block: Block): Run[] {
  const rows = block.get("_atom_site.cartn_x")?.length ?? block.get("_atom_site_fract_x")?.length ?? block.get("_atom_site_cartn_x")?.length ?? 0;
  const model = column(block, "_atom_site.pdbx_pdb_model_num");
  const runs: Run[] = [];
  for (let from = 0, to = 0; from < rows; from = to) {
    while (to < rows && model(to) === model(from)) to++;
    runs.push({ block, from, to, name: model(from) });
  }
  return runs;
}

function macromolecule({ block, from, to, name }: Run): Structure {
  const s = new Structure();
  const of = (...names: string[]) => column(block, ...names.map((n) => `_atom_site.${n}`));
  const [x, y, z] = [of("cartn_x"), of("cartn_y"), of("cartn_z")];
  const [element, atom, residue] = [of("type_symbol"), of("auth_atom_id", "label_atom_id"), of("auth_comp_id", "label_comp_id")];
  const [number, insertion, chain, alternative] = [of("auth_seq_id", "label_seq_id"), of("pdbx_pdb_ins_code"), of("auth_asym_id", "label_asym_id"), of("label_alt_id")];
  for (let i = from; i < to; i++) {
    s.add({
      element: element(i) || atom(i), at: [numberIn(x(i)), numberIn(y(i)), numberIn(z(i))], name: atom(i), residue: residue(i), number: number(i) + insertion(i),
      chain: chain(i), alternative: alternative(i),
    });
  }
  s.title = name;
  s.cell = cellOf(block);
  return s;
}

function operationsOf(block: Block): Operation[] {
  const texts = block.get("_space_group_symop_operation_xyz") ?? block.get("_symmetry_equiv_pos_as_xyz") ?? [];
  return texts.slice(0, 192).map(operationOf).filter((o) => o !== undefined);
}

const groupOf = (block: Block) => attributesOf(block).find(([name]) => name === "space group")?.[1];

/** The atoms of a small molecule: as listed, or with all symmetry images within the cell, or also
    on its faces. */
function small({ block, from, to }: Run, operations?: Operation[], faces = false): Structure {
  const s = new Structure();
  const cell = cellOf(block) ?? edgesOf(valuesOfCell(block) ?? []);
  const isFractional = block.has("_atom_site_fract_x");
  if (isFractional && !cell) throw new Refused("Its atoms have fractional coordinates, but it does not define the cell.");
  const of = (name: string) => column(block, `_atom_site_${name}`);
  const [x, y, z] = ["x", "y", "z"].map((axis) => of(`${isFractional ? "fract" : "cartn"}_${axis}`));
  const [symbol, label, disorder] = [of("type_symbol"), of("label"), of("disorder_group")];
  for (let i = from; i < to; i++) {
    const place: Place = [numberIn(x!(i)), numberIn(y!(i)), numberIn(z!(i))];
    const atom = { element: symbol(i) || label(i), name: label(i), alternative: disorder(i) };
    const orbit = operations ? orbitOf(place, operations) : [place];
    const places = faces ? orbit.flatMap(withImages) : orbit;
    for (const p of places) s.add({ ...atom, at: isFractional ? placeOf(p, cell!) : p });
  }
  s.cell = cell;
  const group = groupOf(block);
  if (isFractional && group && !/^P\s*1$/.test(group) && !operationsOf(block).length) s.notes.push(`The file names the space group ${group}, but lists no symmetry operations: only the listed atoms are shown.`);
  return s;
}

export function cif(text: string): Molecules {
  const blocks = blocksOf(text);
  const runs = blocks.flatMap(runsOf);
  if (!runs.length) throw new Refused("It has no atoms: neither _atom_site.Cartn_x nor _atom_site_fract_x.");
  const { block } = runs[0]!;
  const isMacro = block.has("_atom_site.cartn_x");
  const read = (frame: number) => (runs[frame]!.block.has("_atom_site.cartn_x") ? macromolecule(runs[frame]!) : small(runs[frame]!));
  const several = blocks.length > 1 && runs.length > 1;
  const molecules: Molecules = {
    about: isMacro ? "mmCIF" : "CIF", attributes: several ? [] : attributesOf(block), frames: runs.length, frame: several ? "block" : "model",
    read: (frame) => {
      const s = read(frame);
      s.title = several ? runs[frame]!.block.name : runs.length > 1 ? `model ${s.title}` : "";
      if (several) s.facts = attributesOf(runs[frame]!.block);
      return s;
    },
  };
  const operations = isMacro ? [] : operationsOf(block);
  if (!operations.length || !block.has("_atom_site_fract_x")) return molecules;
  const first = read(0);
  const isOrganic = [6, 1].every((n) => first.elements.includes(n));
  const cells: Form[] = ["whole unit cell", "whole unit cell with all faces"].map((name, i) => ({
    name, read: (frame) => small(runs[frame]!, operationsOf(runs[frame]!.block), i > 0),
  }));
  return { ...molecules, forms: [{ name: "as in the file", read: molecules.read }, ...cells], form: isOrganic ? 0 : 1 };
}
