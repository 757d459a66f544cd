package archive

import (
	"mime"
	"path"
	"slices"
	"strings"
)

// What is compressed already is stored as it is: to deflate it costs time and gains nothing. This is the one list of it, by media
// type and, where that says nothing, by extension.
var (
	packedKinds = []string{"audio", "image", "video"}
	// unpacked are the types of these kinds that are not compressed.
	unpacked = []string{
		"audio/aiff", "audio/basic", "audio/midi", "audio/wav", "audio/vnd.wave", "audio/wave", "audio/x-aiff", "audio/x-wav",
		"image/bmp", "image/svg+xml", "image/tiff", "image/vnd.adobe.photoshop", "image/x-icon", "image/x-ms-bmp", "image/x-portable-anymap",
	}
	packedTypes = []string{
		"application/epub+zip", "application/gzip", "application/java-archive", "application/pdf", "application/vnd.apache.parquet",
		"application/vnd.rar", "application/x-7z-compressed", "application/x-bzip2", "application/x-gzip", "application/x-npz",
		"application/x-rar-compressed", "application/x-xz", "application/zip", "application/zstd", "font/woff", "font/woff2",
	}
	packedFamilies   = []string{"application/vnd.oasis.opendocument.", "application/vnd.openxmlformats-officedocument."}
	packedExtensions = strings.Fields(`.7z .avif .bz2 .docx .epub .flac .gif .gz .heic .jar .jp2 .jpeg .jpg .lz4 .m4a .mkv .mov .mp3 .mp4
		.npz .odp .ods .odt .ogg .opus .parquet .pdf .png .pptx .rar .tgz .webm .webp .xlsx .xz .zip .zst`)
)

// packed tells whether a file is compressed already, by its media type and its path.
func packed(mimetype, name string) bool {
	media, _, _ := mime.ParseMediaType(mimetype)
	kind, _, _ := strings.Cut(media, "/")
	if slices.Contains(unpacked, media) {
		return false
	}
	return slices.Contains(packedKinds, kind) || slices.Contains(packedTypes, media) ||
		slices.ContainsFunc(packedFamilies, func(family string) bool { return strings.HasPrefix(media, family) }) ||
		slices.Contains(packedExtensions, strings.ToLower(path.Ext(name)))
}
