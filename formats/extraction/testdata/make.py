"""Makes the files of this folder, and expected.json: what the programs named below read from them, as the properties that docs/how-to/instruments.md names.

    python3 -m venv venv && venv/bin/pip install astropy==8.0.2 netCDF4==1.7.5.1.post1 scipy==1.17.1 tifffile==2026.3.3 pillow==13.0.0 piexif==1.1.3
    venv/bin/python make.py         (exiftool 12.57 must be on the PATH)

The libraries take half a gigabyte, and two minutes to install: too much for each run of the tests.
"""
import csv, gzip, json, math, os, re, subprocess
import netCDF4, numpy, piexif, tifffile
from astropy.io import fits
from PIL import ExifTags, Image, TiffImagePlugin
from scipy.io import netcdf_file

os.chdir(os.path.dirname(os.path.abspath(__file__)))
expected = {}


def plain(value):
    """A value of numpy as JSON has it."""
    if isinstance(value, (bytes, numpy.bytes_)):
        return value.decode("latin-1")
    if isinstance(value, numpy.ndarray):
        return [plain(v) for v in value.tolist()] if value.size > 1 else plain(value.reshape(-1)[0])
    if isinstance(value, numpy.float32):
        return float(str(value))
    if isinstance(value, numpy.generic):
        return value.item()
    return value


def exiftool(name):
    """What exiftool reads: numbers as they are."""
    return json.loads(subprocess.run(["exiftool", "-j", "-n", "-G0", name], check=True, capture_output=True).stdout)[0]


# ---- FITS, by astropy ----

UNITS = {"s", "K", "m", "deg", "nm"}
STRUCTURE = {"SIMPLE", "EXTEND", "CHECKSUM", "DATASUM", "COMMENT", "HISTORY", ""}


def read_fits(name):
    with fits.open(name) as file:
        header = file[0].header
        found = {}
        for card in header.cards:
            if card.keyword in STRUCTURE or card.keyword in found:
                continue
            unit = re.match(r"\[(\w+)\]", card.comment)
            number = isinstance(card.value, (int, float)) and not isinstance(card.value, bool)
            found[card.keyword] = {"value": card.value, "unit": unit[1]} if number and unit and unit[1] in UNITS else card.value
        for keyword in ("COMMENT", "HISTORY"):
            if keyword in header:
                found[keyword] = "\n".join(header[keyword])
        return found


def make_fits():
    image = fits.PrimaryHDU(numpy.arange(16, dtype=numpy.int16).reshape(4, 4))
    h = image.header
    h["OBJECT"] = ("NGC 891", "target")
    h["OBSERVER"] = "O'Brien"
    h["DATE-OBS"] = "2026-01-02T10:20:30.5"
    h["EXPTIME"] = (30.5, "[s] exposure time")
    h["DETTEMP"] = (153, "[K] detector")
    h["GAIN"] = (1.5e-3, "[adu] a unit that nobody knows here")
    h["RA"] = (35.639, "[deg]")
    h["SHUTTER"] = True
    h["LONGTEXT"] = "The sky was clear & the seeing good, " * 4 + "until midnight."
    h["HIERARCH ESO DET WIN1 NX"] = 2048
    h["HIERARCH ESO INS FILT NAME"] = "H-alpha/6563"
    h.add_comment("taken through thin cirrus")
    h.add_comment("by remote control")
    h.add_history("bias subtracted")
    image.writeto("image.fits", overwrite=True, checksum=True)
    expected["image.fits"] = read_fits("image.fits")
    with open("image.fits", "rb") as plainly, gzip.GzipFile("image.fits.gz", "wb", mtime=0) as packed:
        packed.write(plainly.read())
    expected["image.fits.gz"] = read_fits("image.fits.gz")


# ---- NetCDF in its classic forms, by scipy (CDF-1) and netCDF4 (CDF-2 and CDF-5) ----


def variable(name, attributes):
    found = {"name": name, "unit": attributes.get("units"), "description": attributes.get("long_name")}
    return {key: value for key, value in found.items() if value}


def read_netcdf4(name):
    with netCDF4.Dataset(name) as file:
        file.set_auto_mask(False)
        found = {key: plain(file.getncattr(key)) for key in file.ncattrs()}
        found["dimensions"] = {d.name: len(d) for d in file.dimensions.values()}
        found["variables"] = [variable(v.name, {a: v.getncattr(a) for a in v.ncattrs()}) for v in file.variables.values()]
        return found


def make_netcdf():
    with netcdf_file("classic.nc", "w", version=1) as file:
        file.title, file.institution, file.history = "Temperatures", "Universit\u00e9".encode("latin-1"), "made\nby hand"
        file.createDimension("time", None)
        file.createDimension("x", 3)
        time = file.createVariable("time", "d", ("time",))
        time.units, time.long_name = "s", "time since the start"
        t = file.createVariable("T", "f", ("time", "x"))
        t.units = "K"
        file.createVariable("flag", "b", ("x",))[:] = [1, 2, 3]
        time[:], t[:] = [0, 1], numpy.ones((2, 3))
    with netcdf_file("classic.nc", mmap=False) as file:
        found = {key: plain(value) for key, value in file._attributes.items()}
        found["dimensions"] = {key: 2 if value is None else value for key, value in file.dimensions.items()}
        found["variables"] = [
            variable(name, {key: plain(value) for key, value in v._attributes.items()}) for name, v in file.variables.items()
        ]
        expected["classic.nc"] = found
    for name, format in (("offset64.nc", "NETCDF3_64BIT_OFFSET"), ("data64.nc", "NETCDF3_64BIT_DATA")):
        with netCDF4.Dataset(name, "w", format=format) as file:
            file.Conventions = "CF-1.8"
            file.run = numpy.int32(-7)
            file.calibration = numpy.float32(0.1)
            file.limits = numpy.array([0.5, 1e300, -2], dtype="f8")
            file.small = numpy.array([-3, 300], dtype="i2")
            if format == "NETCDF3_64BIT_DATA":
                file.serial, file.level = numpy.uint64(18446744073709551615), numpy.uint8(200)
            file.createDimension("latitude", 5)
            file.createDimension("sample.id", 4)
            v = file.createVariable("latitude", "f4", ("latitude",))
            v.units, v.long_name = "degrees_north", "latitude of the station"
        expected[name] = read_netcdf4(name)
        expected[name]["dimensions"]["sample_id"] = expected[name]["dimensions"].pop("sample.id")  # no dot in the name of a property


# ---- TIFF and JPEG, by tifffile and Pillow, with exiftool as a witness ----

WITNESSED = {  # as exiftool calls them
    "ImageLength": "ImageHeight", "XResolution": "XResolution", "ImageWidth": "ImageWidth", "Make": "Make", "Model": "Model",
    "Software": "Software", "Artist": "Artist", "ExposureTime": "ExposureTime", "FNumber": "FNumber", "PhotographicSensitivity": "ISO",
    "FocalLength": "FocalLength", "LensModel": "LensModel", "Temperature": "AmbientTemperature", "BodySerialNumber": "SerialNumber",
}
UNIT = {"ExposureTime": "s", "FocalLength": "mm", "Temperature": "°C", "Humidity": "%"}


def witness(name, found):
    said = {key.split(":")[-1]: value for key, value in exiftool(name).items()}
    for ours, theirs in WITNESSED.items():
        value = found[ours]["value"] if isinstance(found.get(ours), dict) else found.get(ours)
        if value is not None and theirs in said:
            same = math.isclose(value, said[theirs], rel_tol=1e-9) if isinstance(value, float) else str(value) == str(said[theirs])
            assert same, (name, ours, value, said[theirs])
    for axis in ("Latitude", "Longitude"):
        if "GPS" + axis in found:
            theirs = said["GPS" + axis] * (-1 if said["GPS" + axis + "Ref"] in "SW" and said["GPS" + axis] > 0 else 1)
            assert math.isclose(found["GPS" + axis]["value"], theirs, abs_tol=1e-8), (found, theirs)
    return found


def iso(text):
    return text[:10].replace(":", "-") + "T" + text[11:]


def read_pillow(name, exif, size, tiff):
    """What Pillow reads of the directories."""
    found = {"ImageWidth": size[0], "ImageLength": size[1]}
    main, inner, gps = dict(exif), exif.get_ifd(ExifTags.IFD.Exif), exif.get_ifd(ExifTags.IFD.GPSInfo)
    for tag in ("Make", "Model", "Software", "Artist", "Copyright", "ImageDescription"):
        if ExifTags.Base[tag] in main:
            found[tag] = main[ExifTags.Base[tag]].strip()
    if "DateTime" and ExifTags.Base.DateTime in main:
        found["DateTime"] = iso(main[ExifTags.Base.DateTime])
    for tag in ("XResolution", "YResolution"):
        if ExifTags.Base[tag] in main:
            unit = {2: "1/in", 3: "1/cm"}[main.get(ExifTags.Base.ResolutionUnit, 2)]
            found[tag] = {"value": float(main[ExifTags.Base[tag]]), "unit": unit}
    numbers = {0x829A: "ExposureTime", 0x829D: "FNumber", 0x920A: "FocalLength", 0x8827: "PhotographicSensitivity", 0x9400: "Temperature"}
    for tag, ours in numbers.items():
        if tag in inner:
            value = inner[tag] if isinstance(inner[tag], int) else float(inner[tag])
            found[ours] = {"value": value, "unit": UNIT[ours]} if ours in UNIT else value
    for tag, ours in {0xA434: "LensModel", 0xA431: "BodySerialNumber"}.items():
        if tag in inner:
            found[ours] = inner[tag]
    if 0x9003 in inner:
        found["DateTimeOriginal"] = iso(inner[0x9003]) + inner.get(0x9011, "")
    for at, axis in ((2, "GPSLatitude"), (4, "GPSLongitude")):
        if at in gps:
            d, m, s = (float(n) for n in gps[at])
            found[axis] = {"value": round((d + m / 60 + s / 3600) * (-1 if gps[at - 1] in "SW" else 1), 8), "unit": "°"}
    if 6 in gps:
        below = gps.get(5) in (1, b"\x01")
        found["GPSAltitude"] = {"value": float(gps[6]) * (-1 if below else 1), "unit": "m"}
    if tiff:
        bits = main[ExifTags.Base.BitsPerSample]
        found["BitsPerSample"], found["pages"] = bits[0] if isinstance(bits, tuple) else bits, tiff
        if ExifTags.Base.SamplesPerPixel in main:
            found["SamplesPerPixel"] = main[ExifTags.Base.SamplesPerPixel]
    return witness(name, found)


def make_jpeg():
    exif = {
        "0th": {
            piexif.ImageIFD.Make: "Canon", piexif.ImageIFD.Model: "EOS 5D", piexif.ImageIFD.Software: "labcam 1.2",
            piexif.ImageIFD.DateTime: "2026:01:02 10:20:30", piexif.ImageIFD.XResolution: (300, 1), piexif.ImageIFD.YResolution: (300, 1),
            piexif.ImageIFD.ResolutionUnit: 2, piexif.ImageIFD.ImageDescription: "Core 12, upper end",
        },
        "Exif": {
            piexif.ExifIFD.ExposureTime: (1, 250), piexif.ExifIFD.FNumber: (28, 10), piexif.ExifIFD.ISOSpeedRatings: 400,
            piexif.ExifIFD.FocalLength: (50, 1), piexif.ExifIFD.DateTimeOriginal: "2026:01:02 10:20:30", 0x9011: "+01:00",
            piexif.ExifIFD.LensModel: "EF 50mm", piexif.ExifIFD.BodySerialNumber: "0123456",
        },
        "GPS": {
            piexif.GPSIFD.GPSLatitudeRef: "S", piexif.GPSIFD.GPSLatitude: ((48, 1), (51, 1), (2956, 100)),
            piexif.GPSIFD.GPSLongitudeRef: "W", piexif.GPSIFD.GPSLongitude: ((2, 1), (17, 1), (4002, 100)),
            piexif.GPSIFD.GPSAltitudeRef: 1, piexif.GPSIFD.GPSAltitude: (355, 10),
        },
    }
    exif["Exif"].pop(0x9011)  # piexif does not know it
    Image.new("RGB", (16, 8), (200, 30, 30)).save("photo.jpg", exif=piexif.dump(exif), quality=50)
    with Image.open("photo.jpg") as image:
        expected["photo.jpg"] = read_pillow("photo.jpg", image.getexif(), image.size, 0)


def make_pillow_tiff():
    for name, mode in (("little.tif", "RGB"), ("motorola.tif", "I;16B")):
        tags = {271: "Zeiss", 272: "LEO 1530", 305: "SmartSEM", 306: "2026:03:04 05:06:07", 270: "Grain \u00b5-structure"}
        pages = [Image.new(mode, (12, 7)) for _ in range(3)]
        pages[0].save(name, format="TIFF", tiffinfo=tags, save_all=True, append_images=pages[1:], dpi=(254.0, 254.0))
        with Image.open(name) as image:
            expected[name] = read_pillow(name, image.getexif(), image.size, image.n_frames)


def read_tifffile(name):
    with tifffile.TiffFile(name) as file:
        page = file.pages[0]
        found = {"ImageWidth": page.imagewidth, "ImageLength": page.imagelength, "BitsPerSample": page.bitspersample, "pages": len(file.pages)}
        found["SamplesPerPixel"] = page.samplesperpixel
        if "Software" in page.tags:
            found["Software"] = page.tags["Software"].value
        if page.tags["ResolutionUnit"].value in (2, 3):
            for tag in ("XResolution", "YResolution"):
                n, d = page.tags[tag].value
                found[tag] = {"value": n / d, "unit": {2: "1/in", 3: "1/cm"}[page.tags["ResolutionUnit"].value]}
        if file.is_imagej:
            found["ImageJ"] = {key: value for key, value in file.imagej_metadata.items() if key not in ("Labels", "Info")}
        if file.is_ome:
            ome = tifffile.xml2dict(file.ome_metadata)["OME"]
            images = ome["Image"] if isinstance(ome["Image"], list) else [ome["Image"]]
            pixels = images[0]["Pixels"]
            found["images"], found["image name"], found["DimensionOrder"] = len(images), images[0]["Name"], pixels["DimensionOrder"]
            for key in ("SizeX", "SizeY", "SizeZ", "SizeC", "SizeT"):
                found[key] = pixels[key]
            for key, unit in (("PhysicalSizeX", "µm"), ("PhysicalSizeY", "µm"), ("PhysicalSizeZ", "µm"), ("TimeIncrement", "s")):
                if key in pixels:
                    found[key] = {"value": pixels[key], "unit": pixels.get(key + "Unit", unit)}
            channels = pixels.get("Channel", [])
            names = [c["Name"] for c in (channels if isinstance(channels, list) else [channels]) if "Name" in c]
            if names:
                found["channels"] = names
        return witness(name, found)


def make_microscopes():
    stack = numpy.zeros((2, 3, 8, 8), dtype=numpy.uint16)
    for name, big in (("ome.tif", False), ("ome-big.tif", True)):
        metadata = {
            "axes": "CZYX", "PhysicalSizeX": 0.065, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 65, "PhysicalSizeYUnit": "nm",
            "PhysicalSizeZ": 0.2, "Channel": {"Name": ["DAPI", "GFP \u03bb=509"]}, "Name": "cell 7",
        }
        tifffile.imwrite(name, stack, ome=True, bigtiff=big, metadata=metadata, photometric="minisblack", compression="zlib")
        expected[name] = read_tifffile(name)
    metadata = {"axes": "TYX", "unit": "um", "spacing": 3.5, "finterval": 0.25, "fps": 4.0, "min": 0.0, "max": 100.0, "loop": True}
    tifffile.imwrite("imagej.tif", stack[0], imagej=True, resolution=(15.5, 15.5), metadata=metadata)
    expected["imagej.tif"] = read_tifffile("imagej.tif")


# ---- tables, by csv and numpy ----


def header_lines(name, **how):
    """How many lines numpy must pass over."""
    for n in range(50):
        try:
            if numpy.loadtxt(name, skiprows=n, comments=None, **how).size:
                return n
        except ValueError:
            pass


def make_tables():
    values = numpy.arange(12).reshape(4, 3) / 8
    numpy.savetxt("numpy.csv", values, delimiter=",", header="operator: Ada\ntemperature: 21.5 °C\ntime,T,p", fmt="%.3f", encoding="utf-8")
    expected["numpy.csv"] = {
        "columns": [{"name": name} for name in numpy.genfromtxt("numpy.csv", delimiter=",", names=True, skip_header=2).dtype.names],
        "header lines": header_lines("numpy.csv", delimiter=","), "operator": "Ada", "temperature": {"value": 21.5, "unit": "°C"},
    }
    preamble = [["Instrument", "XRD-1"], ["Operator", "Lovelace, Ada"], ["Started", "2026-01-02T10:20"], ["Power", "1.6", "kW"], ["Serial", "007"]]
    names, units = ["Angle", "Counts", 'Dwell "live"', "Temp, inner"], ["°", "", "s", "°C"]
    with open("instrument.csv", "w", newline="", encoding="cp1252") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerows(preamble)
        file.write("\r\n")
        writer.writerow(names)
        writer.writerow(units)
        writer.writerows([[10 + n / 50, 100 * n, 1, 21] for n in range(5)])
    with open("instrument.csv", newline="", encoding="cp1252") as file:
        rows = list(csv.reader(file, delimiter=";"))
    lines = header_lines("instrument.csv", delimiter=";", encoding="cp1252")
    expected["instrument.csv"] = {
        "columns": [{"name": name, "unit": unit} if unit else {"name": name} for name, unit in zip(rows[lines - 2], rows[lines - 1])],
        "header lines": lines, "Power": {"value": 1.6, "unit": "kW"}, **{row[0]: row[1] for row in preamble if row[0] != "Power"},
    }


make_tables()
make_fits()
make_netcdf()
make_jpeg()
make_pillow_tiff()
make_microscopes()
with open("expected.json", "w", encoding="utf-8") as file:
    json.dump(expected, file, indent=1, ensure_ascii=False, sort_keys=True)
    file.write("\n")
