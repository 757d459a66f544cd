"""Creates files with features that no small file of another project has: made-chunks.h5, with a dataset for each chunk index and filter, made-slide.ome.tif,
made-names.h5, packed variables in both NetCDF formats, a NeXus file, a GDAL image, and FITS images compressed with each algorithm."""
import h5py, netCDF4, numpy, tifffile
from astropy.io import fits

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
# A slide as microscopes write it, with tiles and two smaller copies. The copies are darker, so that a test can recognize them.
y, x = numpy.mgrid[0:3072, 0:4096]
slide = ((x // 512 * 31 + y // 512 * 57) % 200 + 50).astype("u1")
with tifffile.TiffWriter("made-slide.ome.tif") as file:
    options = dict(tile=(512, 512), photometric="minisblack", compression="zlib")
    file.write(slide, subifds=2, metadata={"axes": "YX", "PhysicalSizeX": 0.25, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.25, "PhysicalSizeYUnit": "µm"}, **options)
    file.write(slide[::2, ::2] - 20, subfiletype=1, **options)
    file.write(slide[::4, ::4] - 40, subfiletype=1, **options)

# An object with 900 names and a long attribute, which is listed 900 times.
with h5py.File("made-names.h5", "w", libver="latest") as f:
    f.create_group("n000").attrs["text"] = "x" * 20_000
    for i in range(1, 900):
        f[f"n{i:03}"] = f["n000"]

# Variables packed by the CF conventions: unsigned, scaled, with missing and invalid values, and times.
for name, kind in [("made-cf.nc", "NETCDF4"), ("made-cf-classic.nc", "NETCDF3_CLASSIC")]:
    with netCDF4.Dataset(name, "w", format=kind) as f:
        f.set_auto_maskandscale(False)
        for dimension, length in [("time", 4), ("lat", 5), ("lon", 6), ("station", 3)]:
            f.createDimension(dimension, None if dimension == "time" else length)

        def add(name, dtype, dimensions, values, fill=None, **attributes):
            v = f.createVariable(name, dtype, dimensions, fill_value=fill)
            v.set_auto_maskandscale(False)
            v.setncatts(attributes)
            v[...] = numpy.array(values, dtype)

        add("lat", "f4", ["lat"], [-10, 0, 10, 20, 30], units="degrees_north", standard_name="latitude")
        add("lon", "f4", ["lon"], [5, 6, 7, 8, 9, 10], units="degrees_east", standard_name="longitude")
        add("time", "i4", ["time"], [0, 31, 59, 90], units="days since 2000-01-01", calendar="standard")
        add("hour", "f8", ["time"], [0, 1.5, -0.25, 36], units="hours since 2017-10-25 20:56:00 +02:00")
        add("leap", "i4", ["time"], [0, 1, 2, 3], units="days since 2000-01-01", calendar="noleap")
        stored = numpy.arange(120, dtype="i4").reshape(4, 5, 6) * 547 - 32768
        stored[0, 0, :3] = [-1, -2, -7]
        add("height", "i2", ["time", "lat", "lon"], stored, fill=numpy.int16(-1), _Unsigned="true", scale_factor=numpy.float32(0.25), add_offset=numpy.float32(-100),
            valid_range=numpy.array([0, -6], "i2"), units="m", long_name="height of clouds", coordinates="hour")
        add("flag", "i1", ["lat", "lon"], numpy.arange(30).reshape(5, 6) - 15, _Unsigned="true", missing_value=numpy.int8(-1), valid_min=numpy.int8(3))
        add("speed", "f4", ["lat", "lon"], numpy.arange(30).reshape(5, 6) / 8 - 1, fill=numpy.float32(-0.5), valid_max=numpy.float32(2), units="m s-1")
        add("offset", "f8", ["lat"], [1, 2, 3, 4, 5], add_offset=273.15, missing_value=numpy.array([2, 4], "f8"), units="K")
        add("empty", "i2", ["lat"], [1, -32767, 3, 4, 5])
        add("measured", "i2", ["lat"], [1, 200, 300, 400, 500], scale_factor=0.1, valid_min=15.0, valid_max=45.0)
        if kind == "NETCDF4":
            add("count", "u8", ["station"], [1, 2**63 + 1, 18446744073709551615], fill=numpy.uint64(18446744073709551615))

# The default array of a NeXus file is not the first one in the file.
with h5py.File("made-nexus.h5", "w") as f:
    f.attrs["default"] = "scan"
    f.create_group("a").create_dataset("first", data=numpy.arange(6).reshape(2, 3))
    other = f.create_group("calibration")
    other.attrs["NX_class"] = "NXentry"
    entry = f.create_group("scan")
    entry.attrs.update(NX_class="NXentry", default="result")
    data = entry.create_group("result")
    data.attrs.update(NX_class="NXdata", signal="intensity", axes=["angle", "."], angle_indices=0)
    frames = entry.create_group("instrument").create_dataset("frames", data=numpy.arange(20).reshape(4, 5) * 3, dtype="i4")
    frames.attrs.update(units="counts", long_name="scattered light")
    data["intensity"] = h5py.SoftLink("/scan/instrument/frames")
    data.create_dataset("angle", data=[0.5, 1, 1.5, 2]).attrs["units"] = "deg"

# A GDAL image with a value for missing pixels, a scale, an offset and a unit.
gdal = '<GDALMetadata><Item name="SCALE" sample="0" role="scale">0.5</Item><Item name="OFFSET" sample="0" role="offset">-10</Item><Item name="UNITTYPE" sample="0" role="unittype">m</Item></GDALMetadata>'
tifffile.imwrite("made-gdal.tif", numpy.array([[0, 100, 200], [300, 65535, 40]], "u2"), extratags=[(42112, "s", 0, gdal, True), (42113, "s", 0, "65535", True)])

# Compressed images: each algorithm, integers and floats with and without dither, with and without missing values.
y, x = numpy.mgrid[0:20, 0:24]
counts = ((x * 37 + y * y * 11) % 997 + numpy.where((x == 7) & (y == 5), 30000, 0)).astype("i2")
smooth = (numpy.sin(x / 5) * 40 + numpy.cos(y / 3) * 20).astype("f4")
holes = smooth.copy()
holes[3, 4:9] = numpy.nan
units = [fits.PrimaryHDU()]
for kind, values, more in [
    ("RICE_1", counts, {"tile_shape": (7, 10)}), ("RICE_1", counts.astype("i4") * 70000 // 3, {}), ("RICE_1", (counts % 251).astype("u1"), {}),
    ("GZIP_1", counts, {}), ("GZIP_2", counts, {"tile_shape": (6, 24)}), ("GZIP_2", smooth, {"quantize_level": 0}), ("GZIP_1", smooth.astype("f8"), {"quantize_level": 0}),
    ("PLIO_1", counts % 200, {}), ("HCOMPRESS_1", counts, {"tile_shape": (20, 24)}), ("HCOMPRESS_1", counts, {"tile_shape": (10, 13)}),
    ("HCOMPRESS_1", counts, {"tile_shape": (20, 24), "hcomp_scale": 4}),
    ("RICE_1", smooth, {"quantize_method": -1}), ("RICE_1", holes, {"quantize_method": 1, "dither_seed": 42}), ("RICE_1", holes, {"quantize_method": 2, "dither_seed": 9999}),
    ("RICE_1", (counts % 997).astype("u2"), {}), ("GZIP_1", numpy.stack([counts, counts + 1]), {}), ("NOCOMPRESS", counts, {}),
]:
    units.append(fits.CompImageHDU(values, name=f"{kind.split('_')[0].lower()}{len(units)}", compression_type=kind, **more))
units[-1].header["BUNIT"] = "adu"
fits.HDUList(units).writeto("made-tiles.fits", overwrite=True)
