// Schemas of requests and responses, field by field.
import { useState } from "preact/hooks";
import { Inline, Text } from "./markdown";
import type { Document, Schema } from "./openapi";
import { nameOf, resolve } from "./openapi";

/** The type of a value, in words. */
export function typeOf(doc: Document, given: Schema): string {
  const s = resolve(doc, given);
  const one = s.oneOf ?? s.anyOf;
  if (one) return [...new Set(one.map((o) => typeOf(doc, o)))].join(" or ");
  if (s.type === "array") return `list of ${s.items ? typeOf(doc, s.items) : "anything"}`;
  const name = nameOf(given);
  if (s.type === "object" && name) return name;
  return [s.type ?? "anything", s.format].filter(Boolean).join(", ");
}

const shown = (value: unknown) => `\`${typeof value === "string" ? value || '""' : JSON.stringify(value)}\``;

/** The constraints of a value, in words. */
function constraintsOf(doc: Document, given: Schema): string[] {
  const s = resolve(doc, given);
  const between = (what: string, least: number | undefined, most: number | undefined) => {
    if (least !== undefined && most !== undefined) return [`${least} to ${most}${what}`];
    if (least !== undefined) return [`at least ${least}${what}`];
    return most === undefined ? [] : [`at most ${most}${what}`];
  };
  const choices = s.enum ?? s.anyOf?.find((o) => o.enum)?.enum;
  return [
    ...(choices ? [`one of ${choices.map(shown).join(", ")}`] : []),
    ...(s.const !== undefined ? [`always ${shown(s.const)}`] : []),
    ...between("", s.minimum, s.maximum),
    ...(s.minLength === 1 && !s.maxLength ? ["not empty"] : between(" characters", s.minLength, s.maxLength)),
    ...between(" items", s.minItems, s.maxItems),
    ...(s.pattern ? [s.pattern.includes("\\u") ? "no control characters" : `matches \`${s.pattern}\``] : []),
    ...(s.default !== undefined ? [`default ${shown(s.default)}`] : []),
    ...(s.examples?.length ? [`such as ${s.examples.map(shown).join(", ")}`] : []),
  ];
}

export interface FieldOf {
  name: string;
  schema: Schema;
  required: boolean;
  description?: string | undefined;
  /** The part of the request, such as "query". */
  place?: string;
}

/** Values with their names, types and descriptions. */
export function Fields({ doc, of }: { doc: Document; of: FieldOf[] }) {
  return (
    <ul class="fields">
      {of.map(({ name, schema, required, description, place }) => {
        const constraints = constraintsOf(doc, schema);
        const text = description ?? resolve(doc, schema).description;
        return (
          <li key={name}>
            <div class="name">
              <code>{name}</code>
              <small>
                {typeOf(doc, schema)}
                {place && `, in the ${place}`}
                {required && ", required"}
              </small>
            </div>
            <div class="about">
              {text && <Text text={text} />}
              {constraints.length > 0 && (
                <p class="dim">
                  <Inline text={constraints.join("; ")} />
                </p>
              )}
              <NestedFields doc={doc} schema={schema} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}

/** The fields of an object or of the items of a list, collapsed. */
function NestedFields({ doc, schema }: { doc: Document; schema: Schema }) {
  const [open, setOpen] = useState(false);
  const s = resolve(doc, schema);
  const inner = s.type === "array" && s.items ? s.items : schema;
  const object = resolve(doc, inner);
  if (!object.properties) return null;
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        {Object.keys(object.properties).length} fields of {nameOf(inner) ?? "each"}
      </summary>
      {open && <ObjectFields doc={doc} schema={inner} />}
    </details>
  );
}

function ObjectFields({ doc, schema }: { doc: Document; schema: Schema }) {
  const s = resolve(doc, schema);
  const required = new Set(s.required);
  return <Fields doc={doc} of={Object.entries(s.properties ?? {}).map(([name, p]) => ({ name, schema: p, required: required.has(name) }))} />;
}

export function SchemaView({ doc, schema }: { doc: Document; schema: Schema }) {
  const s = resolve(doc, schema);
  if (s.oneOf) {
    return (
      <>
        {s.oneOf.map((one, i) => (
          <div key={i}>
            <p class="dim">{i === 0 ? "Either:" : "or:"}</p>
            <SchemaView doc={doc} schema={one} />
          </div>
        ))}
      </>
    );
  }
  return (
    <>
      {s.description && <Text text={s.description} />}
      {s.type === "array" && s.items ? <SchemaView doc={doc} schema={s.items} /> : <ObjectFields doc={doc} schema={s} />}
    </>
  );
}
