// The vocabularies of the DataCite kernel 4.6, as in the service.
const words = (text: string) => text.trim().split(/\s+/);

export const resourceTypes = words(`
  Audiovisual Award Book BookChapter Collection ComputationalNotebook ConferencePaper ConferenceProceeding DataPaper Dataset Dissertation Event Image
  Instrument InteractiveResource Journal JournalArticle Model OutputManagementPlan PeerReview PhysicalObject Preprint Project Report Service Software
  Sound Standard StudyRegistration Text Workflow Other`);

export const identifierTypes = words(`
  ARK arXiv bibcode CSTR DOI EAN13 EISSN Handle IGSN ISBN ISSN ISTC LISSN LSID PMID PURL RRID UPC URL URN w3id`);

export const relationTypes = words(`
  Cites Collects Compiles Continues Describes Documents HasMetadata HasPart HasTranslation HasVersion IsCitedBy IsCollectedBy IsCompiledBy
  IsContinuedBy IsDerivedFrom IsDescribedBy IsDocumentedBy IsIdenticalTo IsMetadataFor IsNewVersionOf IsObsoletedBy IsOriginalFormOf IsPartOf
  IsPreviousVersionOf IsPublishedIn IsReferencedBy IsRequiredBy IsReviewedBy IsSourceOf IsSupplementedBy IsSupplementTo IsTranslationOf
  IsVariantFormOf IsVersionOf Obsoletes References Requires Reviews`);

export const dateTypes = words(`
  Accepted Available Collected Copyrighted Coverage Created Issued Submitted Updated Valid Withdrawn Other`);

export const creatorTypes = ["person", "organization"];

/** The most common types of sets. */
export const mainResourceTypes = ["Dataset", "Image", "Software", "ComputationalNotebook", "Model", "Text", "Collection"];

/** The most common licences for data and programs, with explanations. The service accepts every
    SPDX identifier. */
export const licences: { group: string; of: [id: string, says: string][] }[] = [
  {
    group: "For data and texts",
    of: [
      ["CC-BY-4.0", "any use, with the names of the creators"],
      ["CC0-1.0", "any use, without conditions"],
      ["CC-BY-SA-4.0", "with names, and changed copies under the same licence"],
      ["CC-BY-NC-4.0", "with names, not commercially"],
      ["CC-BY-NC-SA-4.0", "with names, not commercially, same licence"],
      ["CC-BY-ND-4.0", "with names, unchanged"],
      ["CC-BY-NC-ND-4.0", "with names, unchanged, not commercially"],
    ],
  },
  {
    group: "For databases",
    of: [
      ["PDDL-1.0", "any use, without conditions"],
      ["ODC-By-1.0", "any use, with the source"],
      ["ODbL-1.0", "with the source, same licence"],
      ["CDLA-Permissive-2.0", "any use, with the licence text"],
    ],
  },
  {
    group: "For programs",
    of: [
      ["MIT", "any use, with the licence text"],
      ["Apache-2.0", "as MIT, with a grant of patents"],
      ["BSD-3-Clause", "as MIT, no advertising with names"],
      ["MPL-2.0", "changed files under the same licence"],
      ["GPL-3.0-or-later", "changed programs under the same licence"],
      ["EUPL-1.2", "as GPL, of the European Union"],
    ],
  },
];

/** A word of a vocabulary as text: IsSupplementTo becomes "is supplement to". */
export const spaced = (word: string) => word.replace(/([a-z])(?=[A-Z])/g, "$1 ").toLowerCase();
