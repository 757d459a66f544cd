"""Makes what no small file of another project has: made-chunks.h5, a dataset for each index of chunks and filter, made-slide.ome.tif, and made-names.h5."""
import h5py, numpy, tifffile

with h5py.File("made-chunks.h5", "w", libver="latest") as f:
    for name, shape, limits, chunks, more in [
        ("single", (5, 6), None, (5, 6), {"compression": "gzip"}),
        ("fixed", (14, 15), (40, 50), (4, 5), {"compression": "gzip", "shuffle": True}),
        ("growing", (12, 7), (None, 10), (3, 4), {"fletcher32": True}),
        ("growing sideways", (6, 14), (10, None), (3, 4), {}),
        ("growing twice", (9, 9), (None, None), (4, 4), {}),
        ("lzf", (10, 12), None, (5, 12), {"compression": "lzf"}),
    ]:
        d = f.create_dataset(name, shape=shape, maxshape=limits, chunks=chunks, dtype="i4", **more)
        d[...] = numpy.arange(numpy.prod(shape)).reshape(shape) // 3
# A whole slide as microscopes write it: tiles, and two smaller copies; a copy is darker, so that it is known when it is shown.
y, x = numpy.mgrid[0:3072, 0:4096]
slide = ((x // 512 * 31 + y // 512 * 57) % 200 + 50).astype("u1")
with tifffile.TiffWriter("made-slide.ome.tif") as file:
    options = dict(tile=(512, 512), photometric="minisblack", compression="zlib")
    file.write(slide, subifds=2, metadata={"axes": "YX", "PhysicalSizeX": 0.25, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.25, "PhysicalSizeYUnit": "µm"}, **options)
    file.write(slide[::2, ::2] - 20, subfiletype=1, **options)
    file.write(slide[::4, ::4] - 40, subfiletype=1, **options)

# A long attribute, 900 times: its object has so many names.
with h5py.File("made-names.h5", "w", libver="latest") as f:
    f.create_group("n000").attrs["text"] = "x" * 20_000
    for i in range(1, 900):
        f[f"n{i:03}"] = f["n000"]
