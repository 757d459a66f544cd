package descriptive

import (
	_ "embed"
	"slices"
	"strings"
)

// The vocabularies of the DataCite kernel 4.6, each in alphabetical order, Other last.
var (
	creatorTypes  = []string{"organization", "person"} // in DataCite: Organizational, Personal
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

// licences contains one SPDX identifier a line, the deprecated ones after a line that marks them.
//
//go:embed licences.txt
var licences string

const deprecated = "\n# deprecated\n"

// CreatorTypes returns the valid types of a creator.
func CreatorTypes() []string { return slices.Clone(creatorTypes) }

// ResourceTypes returns the valid values of resourceType: DataCite's resourceTypeGeneral.
func ResourceTypes() []string { return slices.Clone(resourceTypes) }

// IdentifierTypes returns the valid types of a related identifier.
func IdentifierTypes() []string { return slices.Clone(identifierTypes) }

// RelationTypes returns the valid relations.
func RelationTypes() []string { return slices.Clone(relationTypes) }

// DateTypes returns the valid types of a date. A date of type Coverage is the period that the data
// describe.
func DateTypes() []string { return slices.Clone(dateTypes) }

// Licences returns the SPDX identifiers to choose from, sorted. It omits deprecated ones, such as
// GPL-3.0, which are valid nevertheless.
func Licences() []string {
	_, ids, _ := strings.Cut(licences, "\n") // after the line with the version
	ids, _, _ = strings.Cut(ids, deprecated)
	return strings.Split(ids, "\n")
}

// isLicence reports whether id is an SPDX identifier, in its exact case.
func isLicence(id string) bool {
	return id != "" && !strings.ContainsAny(id, "\n#") && strings.Contains(licences, "\n"+id+"\n")
}
