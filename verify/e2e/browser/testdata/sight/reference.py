"""Prints the results of the reference readers for the files of this folder: the first rows and columns of arrays, and digests of pictures in greys."""
import glob, hashlib, json, re, warnings
import h5py, netCDF4, numpy, scipy.io, scipy.sparse, tifffile
from astropy.io import fits

warnings.filterwarnings("ignore")
ROWS, COLUMNS = 10, 6


def text(value):
    if value is numpy.ma.masked:
        return "missing"
    if isinstance(value, (bytes, numpy.bytes_)):
        return value.decode("latin1").rstrip("\0 ")
    return str(value.item() if hasattr(value, "item") else value)


def cells(array):
    """The first rows and columns, at the first index of the other dimensions."""
    if isinstance(array, fits.FITS_rec):  # in the notation of FITS for booleans
        columns = [array.field(name) for name in array.dtype.names[:COLUMNS]]
        return [["FT"[int(c[i])] if c.dtype.kind == "b" else text(c[i]) for c in columns] for i in range(min(ROWS, len(array)))]
    array = numpy.ma.asarray(array) if numpy.ma.isMaskedArray(array) else numpy.asarray(array)
    if array.dtype.names:
        return [[text(row[name]) for name in array.dtype.names[:COLUMNS]] for row in array[:ROWS]]
    if array.dtype.kind == "c":
        array = numpy.stack([array.real, array.imag], -1)
    while array.ndim > 2:
        array = array[0]
    array = array.reshape(-1, 1) if array.ndim < 2 else array
    return [[text(v) for v in row[:COLUMNS]] for row in array[:ROWS]]


def times(variable):
    """Dates, with the time of day if there is one."""
    dates = netCDF4.num2date(variable[...], variable.units, only_use_cftime_datetimes=False)
    return numpy.array([d.isoformat(" ", "seconds").removesuffix(" 00:00:00") for d in dates.flat])


def arrays(name):
    """The arrays of a file, by name."""
    if name.endswith(".npy"):
        return {"array": numpy.load(name)}
    if name.endswith(".nc"):
        found = netCDF4.Dataset(name)
        for v in found.variables.values():
            v.set_auto_mask(v.dtype != "S1")
        return {k: times(v) if " since " in getattr(v, "units", "") and getattr(v, "calendar", "standard") == "standard" else v[...] for k, v in found.variables.items()}
    if name.endswith(".fits"):
        return {u.name.lower() if u.name == "PRIMARY" else u.name or f"extension {i}": numpy.where(numpy.isfinite(u.data), u.data, numpy.nan) if u.data.dtype.kind == "f" else u.data for i, u in enumerate(fits.open(name)) if u.data is not None}
    if name.endswith(".h5") or "hdf5" in name:
        found = {}
        h5py.File(name).visititems(lambda at, o: found.update({o.name.rsplit("/", 1)[-1]: o[()]}) if isinstance(o, h5py.Dataset) else None)
        return found
    found = {}
    for key, value in scipy.io.loadmat(name).items():
        if scipy.sparse.issparse(value):
            value = value.tocoo()
            found[key] = sorted(([r + 1, c + 1, v] for r, c, v in zip(value.row, value.col, value.data)), key=lambda c: (c[1], c[0]))
        elif isinstance(value, numpy.ndarray) and value.dtype.names:
            found.update({field: value[0, 0][field] for field in value.dtype.names})
        elif isinstance(value, numpy.ndarray) and value.dtype.kind == "O":
            found.update({"{%s}" % ", ".join(str(i + 1) for i in at): value[at] for at in numpy.ndindex(value.shape)})
        elif isinstance(value, numpy.ndarray):
            found[key] = value
    return {k: v for k, v in found.items() if numpy.asarray(v).dtype.kind in "iufU"}


def picture(page):
    values = page.asarray().astype(float)
    if "GDAL_NODATA" in page.tags:
        values[values == float(page.tags["GDAL_NODATA"].value)] = numpy.nan
        roles = dict(re.findall(r'role="(\w+)">([^<]*)<', page.tags["GDAL_METADATA"].value))
        values = values * float(roles["scale"]) + float(roles["offset"])
    low, high = numpy.nanmin(values), numpy.nanmax(values)
    if values.ndim > 2:
        values = values[..., 0]  # red, between the limits of all colours
    values = numpy.nan_to_num(values, nan=low)  # transparent pixels are 0
    grey = numpy.floor((values - low) * (255 / max(high - low, 1)) + 0.5).astype("u1")
    return {"limits": f"{low:g} {high:g}", "sha256": hashlib.sha256(grey.tobytes()).hexdigest()}


expected = {}
for name in sorted(glob.glob("*.*")):
    if name.endswith((".py", ".md", ".json", ".npz")) or "objarr" in name or "slide" in name or "names" in name:
        continue
    if name.endswith(".tif"):
        expected[name] = {"pictures": [picture(p) for p in tifffile.TiffFile(name).pages]}
    else:
        expected[name] = {"arrays": {k: cells(v) for k, v in arrays(name).items() if numpy.size(v)}}
print(json.dumps(expected, indent=1))
