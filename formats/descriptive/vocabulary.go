package descriptive

import (
	_ "embed"
	"slices"
	"strings"
)

// The vocabularies of the DataCite kernel 4.6, each in alphabetical order, Other last.
var (
	creatorTypes  = []string{"organization", "person"} // of DataCite: Organizational, Personal
	resourceTypes = []string{
		"Audiovisual", "Award", "Book", "BookChapter", "Collection", "ComputationalNotebook", "ConferencePaper", "ConferenceProceeding", "DataPaper",
		"Dataset", "Dissertation", "Event", "Image", "Instrument", "InteractiveResource", "Journal", "JournalArticle", "Model", "OutputManagementPlan",
		"PeerReview", "PhysicalObject", "Preprint", "Project", "Report", "Service", "Software", "Sound", "Standard", "StudyRegistration", "Text",
		"Workflow", "Other",
	}
	identifierTypes = []string{
		"ARK", "arXiv", "bibcode", "CSTR", "DOI", "EAN13", "EISSN", "Handle", "IGSN", "ISBN", "ISSN", "ISTC", "LISSN", "LSID", "PMID", "PURL", "RRID",
		"UPC", "URL", "URN", "w3id",
	}
	relationTypes = []string{
		"Cites", "Collects", "Compiles", "Continues", "Describes", "Documents", "HasMetadata", "HasPart", "HasTranslation", "HasVersion", "IsCitedBy",
		"IsCollectedBy", "IsCompiledBy", "IsContinuedBy", "IsDerivedFrom", "IsDescribedBy", "IsDocumentedBy", "IsIdenticalTo", "IsMetadataFor",
		"IsNewVersionOf", "IsObsoletedBy", "IsOriginalFormOf", "IsPartOf", "IsPreviousVersionOf", "IsPublishedIn", "IsReferencedBy", "IsRequiredBy",
		"IsReviewedBy", "IsSourceOf", "IsSupplementedBy", "IsSupplementTo", "IsTranslationOf", "IsVariantFormOf", "IsVersionOf", "Obsoletes",
		"References", "Requires", "Reviews",
	}
	dateTypes = []string{
		"Accepted", "Available", "Collected", "Copyrighted", "Coverage", "Created", "Issued", "Submitted", "Updated", "Valid", "Withdrawn", "Other",
	}
)

// licences has one SPDX identifier a line, the deprecated ones behind a line that says so.
//
//go:embed licences.txt
var licences string

const deprecated = "\n# deprecated\n"

// CreatorTypes returns what the type of a creator may be.
func CreatorTypes() []string { return slices.Clone(creatorTypes) }

// ResourceTypes returns what resourceType may be: DataCite's resourceTypeGeneral.
func ResourceTypes() []string { return slices.Clone(resourceTypes) }

// IdentifierTypes returns what the type of a related identifier may be.
func IdentifierTypes() []string { return slices.Clone(identifierTypes) }

// RelationTypes returns what a relation may be.
func RelationTypes() []string { return slices.Clone(relationTypes) }

// DateTypes returns what the type of a date may be. A date of type Coverage says which times the
// data are about.
func DateTypes() []string { return slices.Clone(dateTypes) }

// Licences returns the SPDX identifiers to choose from, sorted. Deprecated ones, such as GPL-3.0,
// are valid and not among them.
func Licences() []string {
	_, ids, _ := strings.Cut(licences, "\n") // behind the line that names the version
	ids, _, _ = strings.Cut(ids, deprecated)
	return strings.Split(ids, "\n")
}

// isLicence tells whether id is an SPDX identifier, in its own case.
func isLicence(id string) bool {
	return id != "" && !strings.ContainsAny(id, "\n#") && strings.Contains(licences, "\n"+id+"\n")
}
