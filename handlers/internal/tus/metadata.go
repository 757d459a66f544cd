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

// maxText is how many bytes a text may have that is stored also where nothing else is made of it:
// as many as a name.
const maxText = 4096

// unusedKeys are the keys of such texts: another one may have precedence.
var unusedKeys = []string{"filename", "filetype", "relativePath", "type"}

// null is what Uppy writes for a relativePath, or a type, that a file does not have.
const null = "null"

// readMetadata parses pairs of a key and a text in base64, with commas between the pairs. The field
// of an error is the key of the pair.
func readMetadata(sent string, start *files.UploadStart) error {
	if len(sent) > maxMetadata {
		return InvalidHeader("Upload-Metadata", "Upload-Metadata is far too long")
	}
	start.Fields.Names = files.ResumableUploadNames()
	if sent == "" {
		return nil
	}
	var pairs []string // as they were sent, without the spaces that they do not need
	texts := map[string]string{}
	for pair := range strings.SplitSeq(sent, ",") {
		key, encoded, spaced := strings.Cut(strings.TrimLeft(pair, " \t"), " ")
		key, encoded = strings.TrimSpace(key), strings.TrimSpace(encoded)
		text, err := base64.StdEncoding.DecodeString(encoded)
		_, twice := texts[key]
		switch {
		case key == "":
			return InvalidHeader("Upload-Metadata", "between two commas of Upload-Metadata there is a key and its value in base64")
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

// takeMetadata takes the texts by their keys. An empty one is as if it were absent, as in a form.
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

// isPathOf tells whether a relative path is that of a file in a folder, which becomes the name of
// the resource as in every upload of a folder. A name that is not the end of the path was given by
// a user, and has precedence.
func isPathOf(path, name string) bool {
	return path != "" && path != null && (name == "" || name == path[strings.LastIndexByte(path, '/')+1:])
}
