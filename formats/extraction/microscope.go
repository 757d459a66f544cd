package extraction

import (
	"bufio"
	"encoding/xml"
	"io"
	"strings"

	"labshelf/formats/descriptive"
	"labshelf/formats/descriptive/units"
)

// describeMicroscope adds the description of a TIFF in the forms of OME and ImageJ. It is not ok if
// the description has neither form.
func describeMicroscope(description string, to *collector) (ok bool) {
	trimmed := strings.TrimSpace(description)
	switch {
	case strings.HasPrefix(trimmed, "<") && strings.Contains(trimmed[:min(len(trimmed), 4096)], "<OME"), strings.Contains(trimmed[:min(len(trimmed), 4096)], ":OME "):
		readOME(trimmed, to)
		return true
	case strings.HasPrefix(trimmed, "ImageJ="):
		readImageJ(trimmed, to)
		return true
	}
	return false
}

// readImageJ adds the lines of ImageJ as one group, with the size of a voxel as far as it is known.
func readImageJ(text string, to *collector) {
	var lines collector
	for line := range strings.Lines(cut(text, descriptive.MaxBytes)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			lines.add(key, said(imageJ.Replace(value), units.DecimalPoint))
		}
	}
	to.left += lines.left
	to.add("ImageJ", descriptive.GroupOf(lines.group))
}

// imageJ decodes ImageJ's escapes of characters beyond ASCII.
var imageJ = strings.NewReplacer(`\u00B5`, "µ", `\u00b5`, "µ", `\u00C5`, "Å")

// measured are the attributes of Pixels with a unit, and their default unit.
var measured = []struct{ name, unit string }{
	{"PhysicalSizeX", "µm"}, {"PhysicalSizeY", "µm"}, {"PhysicalSizeZ", "µm"}, {"TimeIncrement", "s"},
}

// readOME adds the description of the first image in OME-XML. It stops at malformed XML.
func readOME(text string, to *collector) {
	d := xml.NewDecoder(bufio.NewReader(strings.NewReader(text)))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // the text is already UTF-8
	o := ome{to: to}
	for {
		token, err := d.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			o.begin(t)
		case xml.EndElement:
			o.inside = ""
		case xml.CharData:
			if o.inside == "AcquisitionDate" && o.images == 1 {
				to.text(o.inside, string(t))
			}
		}
	}
	to.add("images", integer(o.images))
	to.add("channels", descriptive.ListOf(o.channels...))
}

// ome is the state of reading OME-XML.
type ome struct {
	to       *collector
	images   int
	inside   string
	channels []descriptive.Value
}

// begin reads an element.
func (o *ome) begin(e xml.StartElement) {
	o.inside = e.Name.Local
	attributes := map[string]string{}
	for _, a := range e.Attr {
		attributes[a.Name.Local] = a.Value
	}
	switch e.Name.Local {
	case "Image":
		if o.images++; o.images == 1 {
			o.to.text("image name", attributes["Name"])
		}
	case "Pixels":
		if o.images == 1 {
			o.pixels(attributes)
		}
	case "Channel":
		if name := clean(attributes["Name"]); o.images == 1 && name != "" && len(o.channels) < maxList {
			o.channels = append(o.channels, descriptive.TextOf(name))
		}
	case "Objective":
		for _, name := range []string{"NominalMagnification", "LensNA"} {
			if n := number(attributes[name]); n != "" {
				o.to.add(name, descriptive.NumberOf(n))
			}
		}
	}
}

func (o *ome) pixels(attributes map[string]string) {
	for _, name := range []string{"SizeX", "SizeY", "SizeZ", "SizeC", "SizeT"} {
		if n := number(attributes[name]); n != "" {
			o.to.add(name, descriptive.NumberOf(n))
		}
	}
	o.to.text("DimensionOrder", attributes["DimensionOrder"])
	for _, m := range measured {
		unit := m.unit
		if stated := attributes[m.name+"Unit"]; stated != "" {
			unit = stated
		}
		if n := number(attributes[m.name]); n != "" {
			o.to.add(m.name, quantityOf(n, unit))
		}
	}
}
