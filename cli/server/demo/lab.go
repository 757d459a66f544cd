package demo

import (
	"labshelf/auth"
	"labshelf/metadata"
)

// The sample lab.

// member is a person with a profile.
type member struct {
	Person
	about string
}

type dataspace struct {
	name, title, description string
	visibility               metadata.Visibility
	roles                    map[string]auth.Role // by user name
	sets                     []set
}

type set struct {
	name, title, description string
	metadata                 string // JSON
	files                    []file
}

type file struct {
	source      string // name in the folder files
	name        string
	description string
	deleted     bool
	metadata    string // JSON, or ""
}

var members = []member{
	{Person{Username: "ines", Fullname: "Inês Ferreira", Role: "admin of both dataspaces: gives access to others"}, "Materials group; maintains the diffractometer."},
	{Person{Username: "mara", Fullname: "Mara Lindqvist", Role: "editor of plant-growth: uploads and changes files"}, "Growth chambers and microscopy."},
	{Person{Username: "jon", Fullname: "Jon Abara", Role: "member of plant-growth: reads"}, "Student."},
}

var lab = []dataspace{
	{
		name: "materials", title: "Materials characterisation", visibility: metadata.Public,
		description: "Diffraction, fluorescence and mechanics. Everybody with an account can read it.",
		roles:       map[string]auth.Role{"ines": auth.Admin},
		sets: []set{
			{"silicon-reference", "Silicon reference, D2", "Reference pattern, measured at the beginning of every session.",
				`{"creators":[{"name":"Ferreira, Inês","type":"person"}],"publisher":"Materials group","publicationYear":2026,"resourceType":"Dataset","licence":"CC-BY-4.0","keywords":["diffraction","silicon"],"tags":["reference"]}`, []file{
					{source: "silicon-reference.tsv", name: "silicon-reference.tsv", description: "20° to 90°, Cu Kα, 0.02° a step.",
						metadata: `{"tags":["reference"],"properties":{"sample":{"id":"Si-640","form":"powder"},"temperature":{"value":20,"unit":"°C"},"wavelength":{"value":1.5406,"unit":"Å"}}}`},
					{source: "instrument.json", name: "instrument.json", description: "Settings of the diffractometer."},
					{source: "acceptance-D2.pdf", name: "acceptance-D2.pdf", description: "Report of the yearly check."},
					{source: "analysis.py", name: "analysis.py", description: "Finds the peaks."},
				}},
			{"fluorescence", "Fluorescence lifetimes", "Photon counting; the tables have decimal commas.",
				`{"creators":[{"name":"Ferreira, Inês","type":"person"},{"name":"Abara, Jon","type":"person"}],"keywords":["fluorescence"]}`, []file{
					{source: "lifetime-rhodamine.csv", name: "lifetime-rhodamine.csv", description: "Try a logarithmic axis.",
						metadata: `{"properties":{"excitation":{"value":532,"unit":"nm"},"temperature":{"value":295,"unit":"K"}}}`},
					{source: "ring-down.ipynb", name: "ring-down.ipynb", description: "Quality factor of the cantilever."},
					{source: "bat-call-slowed.wav", name: "ultrasound-slowed.wav", description: "Test signal of the transducer, ten times slower."},
				}},
		},
	},
	{
		name: "plant-growth", title: "Plant growth and stress", visibility: metadata.Private,
		description: "Seedlings under changing light: climate of the chambers, micrographs, protocols.",
		roles:       map[string]auth.Role{"ines": auth.Admin, "mara": auth.Editor, "jon": auth.Member},
		sets: []set{
			{"chamber-3-september", "Climate of chamber 3, September", "Temperature, humidity, light and CO₂, every ten minutes, for two weeks.",
				`{"creators":[{"name":"Lindqvist, Mara","type":"person"}],"keywords":["growth chamber","climate"],"dates":[{"date":"2026-09-01/2026-09-14","type":"Collected"}],"tags":["chamber-3"]}`, []file{
					{source: "README.md", name: "README.md", description: "What the columns mean."},
					{source: "chamber-3.csv", name: "chamber-3.csv", description: "14 days, one line every ten minutes. The door stood open on 13 September.",
						metadata: `{"tags":["raw"],"properties":{"interval":{"value":10,"unit":"min"},"logger":"TL-7"}}`},
				}},
			{"micrographs-batch-2", "Micrographs of batch 2", "Actin (green) and nuclei (blue), 40×.",
				`{"creators":[{"name":"Lindqvist, Mara","type":"person"}],"keywords":["microscopy","actin"],"tags":["batch-2"]}`, []file{
					{source: "cells-40x.png", name: "2026-10/cells-40x.png", description: "Field 7 of slide 12.",
						metadata: `{"tags":["actin","nuclei"],"properties":{"exposure":{"value":120,"unit":"ms"},"magnification":40,"slide":12,"stain":["phalloidin","DAPI"]}}`},
					{source: "protocol.txt", name: "2026-10/protocol.txt", description: "How the slides were stained."},
					{source: "lockin-trace.raw", name: "2026-10/focus-trace.raw", description: "Position of the stage, 32-bit floats."},
					{source: "protocol.txt", name: "2026-10/protocol-old.txt", description: "Version 3, with a mistake in step 4.", deleted: true},
				}},
		},
	},
}
