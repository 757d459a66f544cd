import { root } from "../api";
import { quoted } from "../ui/programs";
import type { Content, Document, Route, Schema } from "./openapi";
import { exampleOf, resolve } from "./openapi";

/** The curl command that calls an operation with the examples of the document. */
export function commandOf(doc: Document, { method, path, operation, parameters }: Route): string {
  const words = ["curl"];
  const content = operation.requestBody?.required ? operation.requestBody.content : undefined;
  const form = content?.["multipart/form-data"]?.schema;
  const defaultMethod = content ? "post" : "get";
  if (method !== defaultMethod) words.push("-X", method.toUpperCase());
  if (!operation.security || operation.security.length) words.push(`-H "Authorization: $KEY"`);
  if (form) words.push(...formFields(doc, form));
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

/** An example of the required properties; without any, of the first property. */
function bodyOf(doc: Document, content: Content): unknown {
  const schema = resolve(doc, Object.values(content)[0]!.schema!);
  const first = Object.keys(schema.properties ?? {})[0];
  return exampleOf(doc, schema, (name, required) => required || (!schema.required?.length && name === first));
}

/** The fields precede the file, so that the service can refuse before it receives the bytes. */
function formFields(doc: Document, given: Schema): string[] {
  const schema = resolve(doc, given);
  const names = Object.keys(schema.properties!).filter((name) => schema.required?.includes(name) && name !== "file");
  return [...names.map((name) => `-F ${name}=${exampleOf(doc, schema.properties![name]!)}`), "-F file=@letter.xml"];
}
