"""Makes made-chunks.h5: a dataset for each index of chunks and filter, which no small file of another project has."""
import h5py, numpy

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
