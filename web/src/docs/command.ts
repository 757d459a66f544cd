import { root } from "../api";
import type { Content, Document, Route, Schema } from "./openapi";
import { exampleOf, resolve } from "./openapi";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The curl command that calls an operation, with the values of the document's examples. */
export function commandOf(doc: Document, { method, path, operation, parameters }: Route): string {
  const words = ["curl"];
  const content = operation.requestBody?.required ? operation.requestBody.content : undefined;
  const form = content?.["multipart/form-data"]?.schema;
  const usual = content ? "post" : "get";
  if (method !== usual) words.push("-X", method.toUpperCase());
  if (!operation.security || operation.security.length) words.push(`-H "Authorization: $KEY"`);
  if (form) words.push(...parts(doc, form));
  else if (content) words.push("--json", quoted(JSON.stringify(bodyOf(doc, content))));
  if (sendsFile(doc, operation.responses["200"]?.content)) words.push("-o", "file");
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => {
    const schema = parameters.find((p) => p.in === "path" && p.name === name)!.schema;
    return String(exampleOf(doc, schema));
  });
  words.push(location.origin + root + filled);
  return words.join(" ");
}

const sendsFile = (doc: Document, content: Content | undefined) =>
  Object.entries(content ?? {}).some(([type, { schema }]) => !/json|yaml/.test(type) && (!schema || resolve(doc, schema).format === "binary"));

/** What has to be sent, or, where nothing has to, the first thing that may. */
function bodyOf(doc: Document, content: Content): unknown {
  const schema = resolve(doc, Object.values(content)[0]!.schema!);
  const first = Object.keys(schema.properties ?? {})[0];
  return exampleOf(doc, schema, (name, required) => required || (!schema.required?.length && name === first));
}

/** The fields come before the file, so that a refusal comes before its bytes. */
function parts(doc: Document, given: Schema): string[] {
  const schema = resolve(doc, given);
  const names = Object.keys(schema.properties!).filter((name) => schema.required?.includes(name) && name !== "file");
  return [...names.map((name) => `-F ${name}=${exampleOf(doc, schema.properties![name]!)}`), "-F file=@letter.xml"];
}
