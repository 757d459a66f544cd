package tus

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"labshelf/auth/errs"
	"labshelf/blobs"
	"labshelf/handlers/internal/body"
	"labshelf/repository/core"
	"labshelf/repository/files"
)

// metadataKeys are the keys of Upload-Metadata. Uppy sends name, type and relativePath in addition
// to filename and filetype.
const metadataKeys = "setId, resourceId, filename, filetype, name, format, description, metadata, sha256, type, relativePath"

// maxText limits the bytes of texts that are stored but have no other use. It equals the limit of a
// name.
const maxText = 4096

// unusedKeys are the keys of texts that may have no use, since another key takes precedence.
var unusedKeys = []string{"filename", "filetype", "relativePath", "type"}

// null is the value that Uppy sends for a missing relativePath or type.
const null = "null"

// readMetadata parses pairs of a key and a base64 text, separated by commas. The field of an error
// is the key of the pair.
func readMetadata(sent string, start *files.UploadStart) error {
	if len(sent) > maxMetadata {
		return InvalidHeader("Upload-Metadata", "Upload-Metadata is far too long")
	}
	start.Fields.Names = files.ResumableUploadNames()
	if sent == "" {
		return nil
	}
	var pairs []string // as sent, without unneeded spaces
	texts := map[string]string{}
	for pair := range strings.SplitSeq(sent, ",") {
		key, encoded, spaced := strings.Cut(strings.TrimLeft(pair, " \t"), " ")
		key, encoded = strings.TrimSpace(key), strings.TrimSpace(encoded)
		text, err := base64.StdEncoding.DecodeString(encoded)
		_, twice := texts[key]
		switch {
		case key == "":
			return InvalidHeader("Upload-Metadata", "Upload-Metadata must have a key and its value in base64 between two commas")
		case !strings.Contains(", "+metadataKeys+", ", ", "+key+", "):
			return &errs.Error{Kind: errs.Invalid, Code: errs.CodeUnknownField, Field: core.Shorten(key),
				Message: "this is not a key of an upload; its keys are " + metadataKeys}
		case twice:
			return body.InvalidField(key, "this key is in Upload-Metadata twice")
		case err != nil:
			return body.InvalidField(key, "in Upload-Metadata, each key is followed by a space and its value in base64")
		case len(text) > maxText && slices.Contains(unusedKeys, key):
			return body.InvalidField(key, fmt.Sprintf("%s may have up to %d bytes; this one has %d", key, maxText, len(text)))
		}
		texts[key] = string(text)
		if spaced {
			key += " "
		}
		pairs = append(pairs, key+encoded)
	}
	start.Announced = strings.Join(pairs, ",")
	return takeMetadata(texts, start)
}

// takeMetadata assigns the texts by key. An empty text counts as missing, as in a form.
func takeMetadata(texts map[string]string, start *files.UploadStart) error {
	fields := &start.Fields
	fields.Filename = texts["filename"]
	for _, key := range []string{"type", "filetype"} {
		if text := texts[key]; text != "" && text != null {
			fields.ContentType, fields.Names.ContentType = text, key
		}
	}
	if path := texts["relativePath"]; isPathOf(path, texts["name"]) {
		texts["name"], fields.Names.Name = path, "relativePath"
	}
	for key, field := range map[string]**string{
		"setId": &fields.SetID, "resourceId": &start.ResourceID, "name": &fields.Name, "format": &fields.Format, "description": &fields.Description,
		"metadata": &fields.Metadata,
	} {
		if text := texts[key]; text != "" {
			*field = &text
		}
	}
	if text := texts["sha256"]; text != "" {
		digest, err := blobs.ParseDigest(text)
		if err != nil {
			return body.InvalidField("sha256", "sha256 must be 64 hexadecimal digits")
		}
		fields.Expected = []blobs.Digest{digest}
	}
	return nil
}

// isPathOf reports whether a relative path is the path of the file in an uploaded folder. Such a
// path becomes the name of the resource. If the name is not the end of the path, a user chose it,
// and it takes precedence.
func isPathOf(path, name string) bool {
	return path != "" && path != null && (name == "" || name == path[strings.LastIndexByte(path, '/')+1:])
}
