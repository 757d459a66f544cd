"""Creates the files made-* of this folder, with plyfile and ASE."""
import ase, ase.io, plyfile

found = plyfile.PlyData.read("reference.ply")
plyfile.PlyData(found.elements, byte_order=">").write("made-big-endian.ply")

salt = [ase.Atoms("Na4Cl4", cell=[5.64 + step / 10] * 3, pbc=True, scaled_positions=[
    (0, 0, 0), (0, .5, .5), (.5, 0, .5), (.5, .5, 0), (.5, 0, 0), (0, .5, 0), (0, 0, .5), (.5, .5, .5)]) for step in range(5)]
ase.io.write("made-steps.xyz", salt, format="extxyz")
