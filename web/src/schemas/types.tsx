// Selects the objects that a schema applies to.
import { useId } from "preact/hooks";
import type { Schema } from "../api";
import { dataspaces } from "../api";
import { count } from "../format";
import { useLoad } from "../ui/load";

export interface Applies {
  for: Schema["for"];
  types: string[];
  /** All files of any type. */
  all: boolean;
}

/** The number of files examined for suggestions. */
const sampled = 1000;

/** The maximum number of suggestions. */
const maxSuggested = 12;

/** The extension of a name, such as .csv. */
const extensionOf = (name: string) => /[^./](\.[\p{L}\p{N}]{1,8})$/u.exec(name)?.[1]?.toLowerCase();

/** The extensions of the newest files of a dataspace with their counts, most frequent first. */
function useExtensions(did: string): [extension: string, count: number][] {
  const { value = [] } = useLoad(async (signal) => {
    const { items } = await dataspaces.resources(did, { order: "newest", limit: sampled }).all(sampled, signal);
    const counts = new Map<string, number>();
    for (const { name } of items) {
      const extension = extensionOf(name);
      if (extension) counts.set(extension, (counts.get(extension) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, maxSuggested);
  }, [did]);
  return value;
}

/** As text: "files: .csv, .tif". */
export function appliesTo({ for: kind, types }: Pick<Schema, "for" | "types">): string {
  if (kind === "sets") return "sets";
  return types.length ? `files: ${types.join(", ")}` : "all files";
}

interface Props {
  did: string;
  value: Applies;
  onChange: (value: Applies) => void;
  /** The other schemas of the dataspace. */
  others: Schema[];
  error: string | undefined;
}

export function AppliesTo({ did, value, onChange, others, error }: Props) {
  const id = useId();
  const option = (label: string, is: boolean, to: Partial<Applies>) => (
    <label class="option">
      <input type="radio" name={id} checked={is} onChange={() => onChange({ ...value, ...to })} />
      {label}
    </label>
  );
  const rivals = others.filter((o) => o.for === value.for && (value.for === "sets" || (value.all ? !o.types.length : o.types.some((t) => value.types.includes(t.toLowerCase())))));
  return (
    <fieldset aria-describedby={`${id}-error`}>
      <legend>The form is for</legend>
      <div class="options">
        {option("All files", value.for === "files" && value.all, { for: "files", all: true })}
        {option("Some kinds of files", value.for === "files" && !value.all, { for: "files", all: false })}
        {option("Sets", value.for === "sets", { for: "sets" })}
      </div>
      {value.for === "files" && !value.all && <Types did={did} types={value.types} onChange={(types) => onChange({ ...value, types })} />}
      {rivals.map((o) => (
        <p class="note" key={o.id}>
          The form “{o.title || o.name}” is for the same. Of two such forms the older one is used.
        </p>
      ))}
      <p class="error" id={`${id}-error`} role="alert">
        {error}
      </p>
    </fieldset>
  );
}

function Types({ did, types, onChange }: { did: string; types: string[]; onChange: (types: string[]) => void }) {
  const id = useId();
  const found = useExtensions(did);
  const known = found.map(([extension]) => extension);
  const others = types.filter((t) => !known.includes(t));
  const toggle = (extension: string, is: boolean) => onChange(is ? [...types, extension] : types.filter((t) => t !== extension));
  const type = (text: string) => {
    const words = text.split(",").map((t) => t.trim().toLowerCase()).filter(Boolean);
    onChange([...types.filter((t) => known.includes(t)), ...words.filter((t) => !known.includes(t))]);
  };
  return (
    <div class="types">
      {found.length > 0 && (
        <div class="options" role="group" aria-label="Kinds of files in this dataspace">
          {found.map(([extension, n]) => (
            <label class="option" key={extension}>
              <input type="checkbox" checked={types.includes(extension)} onChange={(e) => toggle(extension, e.currentTarget.checked)} />
              {extension} <span class="dim num">{count(n)}</span>
            </label>
          ))}
        </div>
      )}
      <div class="field">
        <label for={id}>{found.length ? "Others" : "Kinds of files"}</label>
        <input
          id={id}
          spellcheck={false}
          defaultValue={others.join(", ")}
          key={known.join()}
          aria-describedby={`${id}-hint`}
          ref={(e) => e?.setCustomValidity(types.length ? "" : "Select a kind of files, or all files.")}
          onInput={(e) => type(e.currentTarget.value)}
        />
        <p class="hint" id={`${id}-hint`}>
          Ends of names such as .csv, .tif; also formats (csv) and media types (image/*). Commas between several.
        </p>
      </div>
    </div>
  );
}
