// The part of the metadata form that a schema defines.
import type { Asked, FormField, PropertyForm } from "../api";
import { schemas } from "../api";
import { Button, ErrorMessage } from "../ui/components";
import { useAction } from "../ui/load";
import type { Cell } from "./cells";
import { cellOf, objection, read, typedCell } from "./cells";
import { drawnPaths, fieldAt, FormFields, problemsByField } from "./fields";
import type { Group, Source } from "./metadata";
import { pointerOf, problemText, propertyAt, refusalText } from "./problems";

/** A form, and the version of its schema if the properties were written with another version. */
export interface Shape {
  form: PropertyForm;
  version?: number;
}

/** The cells of a form over properties. Its initial values are for an object without user-entered
    properties. */
export function cellsOf(fields: FormField[], properties: Group, sources: Record<string, Source> = {}): Cell[] {
  const fresh = fields.every((f) => properties[f.name!] === undefined || sources[f.name!]);
  return fields.map((f) => {
    const value = properties[f.name!];
    return value === undefined && fresh && f.default !== undefined ? typedCell(f, f.default) : cellOf(f, value);
  });
}

/** The last saved values of each schema, which can be copied into the next object. */
const saved = new Map<string, { id: string; name: string; properties: Group }>();

export function remember({ schema }: Asked, of: { id: string; name: string }, properties: Group = {}) {
  if (schema) saved.set(schema.id, { id: of.id, name: of.name, properties });
}

interface Props {
  asked: Asked;
  /** The id of the object. */
  of: string;
  shape: Shape;
  cells: Cell[];
  onChange: (cells: Cell[]) => void;
  /** Switches to another version of the form. */
  reshape: (shape: Shape) => void;
  sources: Record<string, Source> | undefined;
  /** The problems that the service reported. */
  refused: { field: string; detail: string } | undefined;
  /** Whether a property is a row below the form. */
  isRow: (path: string) => boolean;
}

export function AskedFields({ asked, of, shape: { form, version }, cells, onChange, reshape, sources, refused, isRow }: Props) {
  const { schema, newest = 0 } = asked;
  const drawn = drawnPaths(form.fields, cells);
  const problems = problemsByField(asked.problems, drawn);
  const elsewhere = (version ? [] : (problems.get("") ?? [])).filter((p) => !isRow(p.path));
  const refusedAt = refused?.field.startsWith("metadata.properties.") ? fieldAt(drawn, pointerOf(refused.field)) : "";
  return (
    <div class="asked">
      {form.help && <p class="prose preserve">{form.help}</p>}
      {schema && !version && newest > schema.version && <NewerVersion schema={schema} newest={newest} reshape={reshape} />}
      {version && <p class="note">This is version {version} of the form. Saving switches to it.</p>}
      <TakeOver asked={asked} of={of} fields={form.fields} cells={cells} onChange={onChange} />
      {elsewhere.map((p) => (
        <p class="error" key={p.path}>
          {p.path && <strong>{propertyAt(p.path)}: </strong>}
          {problemText(form.fields, p)}
        </p>
      ))}
      <FormFields
        fields={form.fields}
        cells={cells}
        onChange={onChange}
        sources={sources}
        enforce={!!schema?.enforce}
        problemsAt={(path) => (version ? "" : (problems.get(path) ?? []).map((p) => problemText(form.fields, p, path)).join(" "))}
        refusedAt={(path) => (path === refusedAt ? refusalText(form.fields, refused!, path) : "")}
      />
    </div>
  );
}

function NewerVersion({ schema, newest, reshape }: { schema: NonNullable<Asked["schema"]>; newest: number; reshape: (shape: Shape) => void }) {
  const { run, busy, problem } = useAction(() => schemas.version(schema.id, newest).then(({ form }) => reshape({ form, version: newest })));
  return (
    <div class="note">
      <div>
        These properties were filled in with version {schema.version} of the form. Version {newest} is available.
        {problem && <ErrorMessage problem={problem} />}
      </div>
      <Button class="tight" busy={busy} onClick={run}>
        Use version {newest}
      </Button>
    </div>
  );
}

/** Fills the empty fields with the last saved values. */
function TakeOver({ asked, of, fields, cells, onChange }: Pick<Props, "asked" | "of" | "cells" | "onChange"> & { fields: FormField[] }) {
  const last = asked.schema && saved.get(asked.schema.id);
  if (!last || last.id === of) return null;
  const open = fields.filter((f, i) => last.properties[f.name!] !== undefined && read(f, cells[i]!).value === undefined);
  const take = () => onChange(cells.map((cell, i) => (open.includes(fields[i]!) ? typedCell(fields[i]!, last.properties[fields[i]!.name!]!) : cell)));
  return (
    <p>
      <Button icon="copy" class="tight take-over" disabled={!open.length} onClick={take} title="Fills only empty fields">
        The rest as in {last.name}
      </Button>
    </p>
  );
}

/** The first incomplete field, which gets the focus. */
export const firstOpen = (fields: FormField[], cells: Cell[]): number => {
  const at = (wanted: (f: FormField, c: Cell) => boolean) => fields.findIndex((f, i) => wanted(f, cells[i]!));
  const lacking = at((f, c) => !!objection(f, read(f, c).value));
  return lacking >= 0 ? lacking : Math.max(0, at((f, c) => read(f, c).value === undefined));
};
