package extraction

import "io"

// tag is a field of TIFF or EXIF.
type tag struct {
	number uint16
	name   string
	unit   string // of its number; "": no unit
}

// asText is the unit of texts.
const asText = "text"

// mainTags are the fields of the main directory, except those with their own code.
var mainTags = []tag{
	{0x0115, "SamplesPerPixel", ""},
	{0x010d, "DocumentName", asText},
	{0x010f, "Make", asText},
	{0x0110, "Model", asText},
	{0x0131, "Software", asText},
	{0x013b, "Artist", asText},
	{0x013c, "HostComputer", asText},
	{0x8298, "Copyright", asText},
}

// exifTags are the fields of the directory of EXIF 2.32.
var exifTags = []tag{
	{0x829a, "ExposureTime", "s"},
	{0x829d, "FNumber", ""},
	{0x8827, "PhotographicSensitivity", ""},
	{0x9204, "ExposureBiasValue", ""},
	{0x9206, "SubjectDistance", "m"},
	{0x920a, "FocalLength", "mm"},
	{0x9400, "Temperature", "°C"},
	{0x9401, "Humidity", "%"},
	{0x9402, "Pressure", "hPa"},
	{0x9403, "WaterDepth", "m"},
	{0x9405, "CameraElevationAngle", "°"},
	{0xa404, "DigitalZoomRatio", ""},
	{0xa420, "ImageUniqueID", asText},
	{0xa430, "CameraOwnerName", asText},
	{0xa431, "BodySerialNumber", asText},
	{0xa433, "LensMake", asText},
	{0xa434, "LensModel", asText},
	{0xa435, "LensSerialNumber", asText},
}

// tagOf has the numbers of the other fields.
var tagOf = map[string]uint16{
	"ImageWidth": 0x0100, "ImageLength": 0x0101, "BitsPerSample": 0x0102, "ImageDescription": 0x010e, "XResolution": 0x011a, "YResolution": 0x011b,
	"ResolutionUnit": 0x0128, "DateTime": 0x0132, "ExifIFD": 0x8769, "GPSInfo": 0x8825,
	"DateTimeOriginal": 0x9003, "DateTimeDigitized": 0x9004, "OffsetTime": 0x9010, "OffsetTimeOriginal": 0x9011, "OffsetTimeDigitized": 0x9012,
	"GPSLatitudeRef": 1, "GPSLatitude": 2, "GPSLongitudeRef": 3, "GPSLongitude": 4, "GPSAltitudeRef": 5, "GPSAltitude": 6, "GPSImgDirection": 17,
}

// The markers of JPEG.
const (
	startOfScan = 0xda
	endOfImage  = 0xd9
	app1        = 0xe1

	maxSegments = 1000
)

// exifMark precedes the TIFF in a segment of JPEG.
const exifMark = "Exif\x00\x00"

// readJPEG reads the size of a picture, and its EXIF.
func readJPEG(in source, to *collector) error {
	described := false
	for at, n := int64(2), 0; n < maxSegments; n++ {
		b, err := in.section(at, 4)
		if err != nil {
			return err
		}
		marker, length := b[1], int64(b[2])<<8|int64(b[3])
		switch {
		case b[0] != 0xff || length < 2 && marker != 0xff:
			return malformed("a JPEG segment does not begin with a marker")
		case marker == 0xff: // padding
			at++
			continue
		case marker == startOfScan || marker == endOfImage:
			return nil
		case isFrame(marker):
			if err := addFrame(in, at+4, to); err != nil {
				return err
			}
		case marker == app1 && !described:
			if described, err = addEXIF(in, at+4, length-2, to); err != nil {
				return err
			}
		}
		at += 2 + length
	}
	return malformed("a JPEG of more than %d segments", maxSegments)
}

// isFrame reports whether a segment begins a frame: SOF0 to SOF15, except the tables DHT, JPG and
// DAC.
func isFrame(marker byte) bool {
	return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc
}

// addFrame adds the size of a picture.
func addFrame(in source, at int64, to *collector) error {
	b, err := in.section(at, 6)
	if err != nil {
		return err
	}
	to.add("ImageLength", integer(int(b[1])<<8|int(b[2])))
	to.add("ImageWidth", integer(int(b[3])<<8|int(b[4])))
	return nil
}

// addEXIF adds the fields of a segment, if it is EXIF.
func addEXIF(in source, at, length int64, to *collector) (is bool, err error) {
	b, err := in.section(at, length)
	if err != nil || len(b) < len(exifMark) || string(b[:len(exifMark)]) != exifMark {
		return false, err
	}
	part := source{ReaderAt: io.NewSectionReader(in, at+int64(len(exifMark)), length-int64(len(exifMark))), size: length - int64(len(exifMark))}
	t, first, err := openTIFF(part)
	if err != nil {
		return true, nil // the size of the picture is valid nevertheless
	}
	if main, err := t.directory(first); err == nil {
		t.describe(main, to)
	}
	return true, nil
}
