// The client of the service.
export * from "./accounts";
export * from "./edits";
export { adminsInvite, anonymous, base, failureOf, Listing, type Outline, type Page, pageSize, pathOf, Problem, problemOf, queryOf, type Revision, root, send, unreachable, whenSignedOut } from "./http";
export * from "./links";
export * from "./records";
export * from "./schemas";
export * from "./service";
