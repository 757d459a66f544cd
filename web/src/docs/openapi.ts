// The description of the interface, as far as our own document goes: OpenAPI 3.1 without callbacks, links and external references.

export interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  format?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  additionalProperties?: boolean | Schema;
}

interface Referring {
  $ref?: string;
  description?: string;
}

export interface Parameter extends Referring {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  schema: Schema;
}

export interface Header extends Referring {
  schema?: Schema;
}

export type Content = Record<string, { schema?: Schema }>;

export interface Answer extends Referring {
  headers?: Record<string, Header>;
  content?: Content;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: unknown[];
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Answer>;
}

const methods = ["get", "post", "put", "patch", "delete"] as const;
export type Method = (typeof methods)[number];

export interface Document {
  info: { title: string; summary: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Partial<Record<Method, Operation>> & { parameters?: Parameter[] }>;
  components: { schemas: Record<string, Schema> };
}

export interface Route {
  method: Method;
  path: string;
  operation: Operation;
  /** Those of the path as well. */
  parameters: Parameter[];
}

/** All operations, in the order of the document. */
export function routes(doc: Document): Route[] {
  return Object.entries(doc.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      const given = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
      return [{ method, path, operation, parameters: given.map((p) => resolve(doc, p)) }];
    }),
  );
}

/** What a reference stands for. What stands beside a reference counts more. */
export function resolve<T extends Referring>(doc: Document, from: T): T {
  if (!from.$ref) return from;
  const { $ref, ...beside } = from;
  let found: unknown = doc;
  for (const part of $ref.slice(2).split("/")) found = (found as Record<string, unknown>)[part];
  return resolve(doc, { ...(found as T), ...beside });
}

/** The name under which a schema is known, if it is. */
export const nameOf = (schema: Schema) => schema.$ref?.split("/").at(-1);

/** A value as the schema wants it, put together from the examples of its parts. */
export function exampleOf(doc: Document, given: Schema, which: (name: string, required: boolean) => boolean = () => true): unknown {
  const s = resolve(doc, given);
  if (s.examples?.length) return s.examples[0];
  if (s.const !== undefined) return s.const;
  if (s.default !== undefined) return s.default;
  if (s.enum) return s.enum[0];
  const one = s.oneOf ?? s.anyOf;
  if (one) return exampleOf(doc, one[0]!, which);
  if (s.properties) {
    const wanted = Object.entries(s.properties).filter(([name]) => which(name, !!s.required?.includes(name)));
    return Object.fromEntries(wanted.map(([name, property]) => [name, exampleOf(doc, property)]));
  }
  if (s.items) return [exampleOf(doc, s.items)];
  return { integer: 0, number: 0, boolean: true, object: {} }[s.type ?? ""] ?? "…";
}
