// Syntax colours: the classes of the pages, and the highlight.js scopes of each. Independent of the
// page.

/** The number of a class is its index here; 0 is plain text. */
export const codeClasses = ["", "c-comment", "c-keyword", "c-string", "c-number", "c-name", "c-type", "c-variable", "c-meta", "c-added", "c-removed"] as const;

const scopes: Record<string, string> = {
  "c-comment": "comment quote doctag",
  "c-keyword": "keyword literal operator selector-tag tag name template-tag section",
  "c-string": "string regexp char.escape link char",
  "c-number": "number symbol bullet",
  "c-name": "title title.function function",
  "c-type": "type title.class built_in class",
  "c-variable": "attr attribute variable property template-variable selector-attr selector-class selector-id selector-pseudo",
  "c-meta": "meta meta.prompt",
  "c-added": "addition",
  "c-removed": "deletion",
};

const classOfScope = new Map<string, number>([["subst", 0], ["code", 0], ["formula", 0], ["params", 0]]);
codeClasses.forEach((name, i) => scopes[name]?.split(" ").forEach((scope) => classOfScope.set(scope, i)));

/** The class of a scope, such as `title.function`; undefined if it inherits the class of its
    parent. */
export function classOf(scope: string): number | undefined {
  return classOfScope.get(scope) ?? classOfScope.get(scope.split(".", 1)[0]!);
}
