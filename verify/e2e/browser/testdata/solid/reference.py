"""Prints the results of the reference readers for the files of this folder: counts, measures, and positions of atoms."""
import glob, json, os, warnings
import ase.io, gemmi, meshio, numpy, trimesh
from ase.data import covalent_radii
from Bio.PDB import MMCIFParser, PDBParser
from rdkit import Chem, RDLogger
from rdkit.Chem import rdDetermineBonds

warnings.filterwarnings("ignore")
RDLogger.DisableLog("rdApp.*")
ROWS = 20


def rows(elements, places):
    return [[str(e)] + [round(float(v), 4) for v in p] for e, p in list(zip(elements, places))[:ROWS]]


def formula(elements):
    """The number of atoms of each element."""
    elements = [str(e) for e in elements]
    return {e: elements.count(e) for e in sorted(set(elements))}


def surface(name):
    stl = name.lower().endswith(".stl")
    mesh = trimesh.load(name, process=stl or name.endswith(".obj"), force=None if "points" in name else "mesh")
    other = meshio.read(name) if not name.endswith(".obj") and "points" not in name else None
    facts = {"bounds": mesh.bounds.flatten().tolist()}
    if isinstance(mesh, trimesh.PointCloud):
        return {"facts": {**facts, "points": len(mesh.vertices), "triangles": 0}}
    facts.update(triangles=len(mesh.faces), area=mesh.area)
    if other is not None:
        facts["vertices"] = len(mesh.vertices) if stl else len(other.points)
    merged = trimesh.load(name, process=True, force="mesh")
    merged.merge_vertices(merge_tex=True, merge_norm=True)
    facts["closed"] = bool(merged.is_watertight)
    if merged.is_watertight and merged.is_winding_consistent:
        facts["volume"] = abs(merged.volume)
    return {"facts": facts}


def near(atoms):
    """The number of pairs of atoms whose distance is at most the sum of their ASE radii plus 0.4 Å, and at least 0.4 Å, without pairs of different alternate locations."""
    places = numpy.array([a.pos.tolist() for a in atoms])
    radii = numpy.array([covalent_radii[a.element.atomic_number] for a in atoms])
    apart = numpy.linalg.norm(places[:, None] - places, axis=2)
    close = (apart <= radii[:, None] + radii + 0.4) & (apart >= 0.4)
    return sum(1 for i, a in enumerate(atoms) for j in range(i) if close[i, j] and (a.altloc == atoms[j].altloc or "\0" in a.altloc + atoms[j].altloc))


def macromolecule(name):
    found = gemmi.read_structure(name, merge_chain_parts=True)
    again = (PDBParser if name.endswith("pdb") else MMCIFParser)(QUIET=True).get_structure("x", name)
    model = found[0]
    atoms = [a for chain in model for residue in chain for a in residue]
    residues = {(chain.name, str(r.seqid), r.name) for chain in model for r in chain}
    assert sum(len(list(r.get_unpacked_list())) for chain in again[0] for r in chain.get_unpacked_list()) == len(atoms), name
    last = found[len(found) - 1]
    return {
        "facts": {"atoms": len(atoms), "residues": len(residues), "chains": len({c.name for c in model}), "bonds": near(atoms)},
        "formula": formula(a.element.name for a in atoms),
        "frames": len(found),
        "rows": {"1": rows([a.element.name for a in atoms], [a.pos.tolist() for a in atoms]),
                 str(len(found)): rows([a.atom.element.name for a in last.all()], [a.atom.pos.tolist() for a in last.all()])},
    }


def crystal(name):
    found = ase.io.read(name)
    found.wrap(eps=1e-4)
    return {"facts": {"atoms": len(found)}, "formula": formula(found.get_chemical_symbols()), "frames": 1, "unordered": True,
            "cell": found.cell.lengths().tolist() + found.cell.angles().tolist(), "rows": {"1": rows(found.get_chemical_symbols(), found.get_positions())}}


def steps(name):
    if not name.startswith("made"):
        return molecules(name)
    found = ase.io.read(name, index=":", format="extxyz")
    return {"facts": {"atoms": len(found[0])}, "formula": formula(found[0].get_chemical_symbols()), "frames": len(found),
            "rows": {str(at + 1): rows(found[at].get_chemical_symbols(), found[at].get_positions()) for at in {0, len(found) - 1}}}


def molecules(name):
    if name.endswith(".mol"):
        found = [Chem.MolFromMolFile(name, sanitize=False, removeHs=False)]
    elif name.endswith(".xyz"):
        found = [Chem.MolFromXYZFile(name)]
        rdDetermineBonds.DetermineConnectivity(found[0])
    else:
        found = list(Chem.SDMolSupplier(name, sanitize=False, removeHs=False))
    symbols = lambda m: [a.GetSymbol() for a in m.GetAtoms()]
    return {"facts": {"atoms": found[0].GetNumAtoms(), "bonds": found[0].GetNumBonds()}, "formula": formula(symbols(found[0])), "frames": len(found),
            "rows": {str(at + 1): rows(symbols(found[at]), found[at].GetConformer().GetPositions()) for at in {0, len(found) - 1}}}


readers = {".stl": surface, ".ply": surface, ".obj": surface, ".pdb": macromolecule, ".xyz": steps, ".mol": molecules, ".sdf": molecules}
result = {}
for name in sorted(os.listdir(".")):
    end = os.path.splitext(name)[1].lower()
    reader = readers.get(end) or (end == ".cif" and (macromolecule if "_atom_site.Cartn_x" in open(name).read() else crystal))
    if reader:
        result[name] = reader(name)
print(json.dumps(result, indent=1, sort_keys=True))
