// Types of the OpenAPI 3.1 document of the service, which has no callbacks, links or external references.

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
  /** Including the parameters of the path. */
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

/** Resolves a reference. Fields next to a reference override the fields of its target. */
export function resolve<T extends Referring>(doc: Document, from: T): T {
  if (!from.$ref) return from;
  const { $ref, ...overrides } = from;
  let target: unknown = doc;
  for (const part of $ref.slice(2).split("/")) target = (target as Record<string, unknown>)[part];
  return resolve(doc, { ...(target as T), ...overrides });
}

/** The name of a schema in the components, if it is a reference. */
export const nameOf = (schema: Schema) => schema.$ref?.split("/").at(-1);

/** An example value of a schema, composed of the examples of its properties. */
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
