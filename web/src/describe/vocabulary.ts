// The vocabularies of the DataCite kernel 4.6, as the service has them.
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

/** Those that data and programs are mostly published under; the service takes every identifier of SPDX. */
export const commonLicences = words(`
  CC-BY-4.0 CC0-1.0 CC-BY-SA-4.0 CC-BY-NC-4.0 CC-BY-NC-SA-4.0 CC-BY-ND-4.0 CC-BY-NC-ND-4.0 CC-BY-3.0 PDDL-1.0 ODC-By-1.0 ODbL-1.0 CDLA-Permissive-2.0
  CDLA-Sharing-1.0 MIT Apache-2.0 BSD-2-Clause BSD-3-Clause GPL-2.0-or-later GPL-3.0-or-later LGPL-3.0-or-later AGPL-3.0-or-later MPL-2.0 EUPL-1.2 ISC
  CERN-OHL-S-2.0 CERN-OHL-P-2.0`);

/** A word of a vocabulary as people write it: IsSupplementTo becomes "is supplement to". */
export const spaced = (word: string) => word.replace(/([a-z])(?=[A-Z])/g, "$1 ").toLowerCase();
