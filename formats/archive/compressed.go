package archive

import (
	"mime"
	"path"
	"slices"
	"strings"
)

// The bytes of compressed files are copied: compressing them again has no effect. They are
// recognized by their media type or, if that is not specific, by their extension.
var (
	compressedKinds = []string{"audio", "image", "video"}
	// uncompressedTypes are the exceptions among the compressed kinds of types.
	uncompressedTypes = []string{
		"audio/aiff", "audio/basic", "audio/midi", "audio/wav", "audio/vnd.wave", "audio/wave", "audio/x-aiff", "audio/x-wav",
		"image/bmp", "image/svg+xml", "image/tiff", "image/vnd.adobe.photoshop", "image/x-icon", "image/x-ms-bmp", "image/x-portable-anymap",
	}
	compressedTypes = []string{
		"application/epub+zip", "application/gzip", "application/java-archive", "application/pdf", "application/vnd.apache.parquet",
		"application/vnd.rar", "application/x-7z-compressed", "application/x-bzip2", "application/x-gzip", "application/x-npz",
		"application/x-rar-compressed", "application/x-xz", "application/zip", "application/zstd", "font/woff", "font/woff2",
	}
	compressedFamilies   = []string{"application/vnd.oasis.opendocument.", "application/vnd.openxmlformats-officedocument."}
	compressedExtensions = strings.Fields(`.7z .avif .bz2 .docx .epub .flac .gif .gz .heic .jar .jp2 .jpeg .jpg .lz4 .m4a .mkv .mov .mp3 .mp4
		.npz .odp .ods .odt .ogg .opus .parquet .pdf .png .pptx .rar .tgz .webm .webp .xlsx .xz .zip .zst`)
)

// isCompressed reports whether a file is already compressed, by its media type and its path.
func isCompressed(mimetype, name string) bool {
	media, _, _ := mime.ParseMediaType(mimetype)
	kind, _, _ := strings.Cut(media, "/")
	if slices.Contains(uncompressedTypes, media) {
		return false
	}
	return slices.Contains(compressedKinds, kind) || slices.Contains(compressedTypes, media) ||
		slices.ContainsFunc(compressedFamilies, func(family string) bool { return strings.HasPrefix(media, family) }) ||
		slices.Contains(compressedExtensions, strings.ToLower(path.Ext(name)))
}
