// The single-text fields that a publication requires.
import { useState } from "preact/hooks";
import { dataspaces } from "../api";
import { Button } from "../ui/components";
import { Field } from "../ui/form";
import { useLoad } from "../ui/load";
import type { Member, Metadata } from "./metadata";
import { memberLabels, membersOf } from "./metadata";
import { licences, mainResourceTypes, resourceTypes, spaced } from "./vocabulary";

/** The members with one text, in the order of the form. */
export const lines = ["publisher", "publicationYear", "resourceType", "licence"] as const;
export type Line = (typeof lines)[number];

interface Props {
  name: Line;
  text: string;
  onChange: (text: string) => void;
  error: string | undefined;
}

export const hints: Record<Line, string> = {
  publisher: "The organisation that keeps the data available, such as your university or institute.",
  publicationYear: "The year of publication, past or planned.",
  resourceType: "The main type of content. If in doubt: dataset.",
  licence: "The rights that others have. Without a licence, others may not use the data.",
};

export function LineField({ name, text, onChange, error }: Props) {
  const input = (e: { currentTarget: { value: string } }) => onChange(e.currentTarget.value);
  if (name === "licence") return <Licence text={text} onChange={onChange} error={error} />;
  return (
    <Field label={memberLabels[name]} hint={hints[name]} error={error}>
      {(a) => {
        const attributes = { ...a, value: text, onInput: input };
        if (name === "publicationYear") return <input type="number" min={1000} max={9999} placeholder={String(new Date().getFullYear())} {...attributes} />;
        if (name === "publisher") return <input {...attributes} />;
        return (
          <select {...attributes}>
            <option value="" />
            <optgroup label="Often used">{mainResourceTypes.map(typeOption)}</optgroup>
            <optgroup label="Others">{resourceTypes.filter((type) => !mainResourceTypes.includes(type)).map(typeOption)}</optgroup>
          </select>
        );
      }}
    </Field>
  );
}

const typeOption = (type: string) => (
  <option key={type} value={type}>
    {spaced(type)}
  </option>
);

/** The choice for a licence that is not in the list. */
const other = "other";

const listed = new Set(licences.flatMap(({ of }) => of.map(([id]) => id)));

/** The most common licences, with explanations; any other licence by its identifier. */
function Licence({ text, onChange, error }: Omit<Props, "name">) {
  const [chosen, setChosen] = useState(false);
  const typing = chosen || (!!text && !listed.has(text));
  const choose = (value: string) => {
    setChosen(value === other);
    onChange(value === other ? "" : value);
  };
  return (
    <Field label={memberLabels.licence} hint={typing ? "The identifier in the list of SPDX (spdx.org/licenses), such as EUPL-1.2." : hints.licence} error={error}>
      {(a) => (
        <div class="licence">
          <select {...a} value={typing ? other : text} onChange={(e) => choose(e.currentTarget.value)}>
            <option value="" />
            {licences.map(({ group, of }) => (
              <optgroup key={group} label={group}>
                {of.map(([id, says]) => (
                  <option key={id} value={id}>
                    {id}: {says}
                  </option>
                ))}
              </optgroup>
            ))}
            <option value={other}>another one …</option>
          </select>
          {typing && <input aria-label="Identifier of the licence" spellcheck={false} value={text} onInput={(e) => onChange(e.currentTarget.value)} />}
        </div>
      )}
    </Field>
  );
}

/** Copies values from the dataspace that the set lacks. */
export function FromDataspace({ did, empty, take }: { did: string; empty: (name: Member) => boolean; take: (m: Metadata) => void }) {
  const { value } = useLoad(() => dataspaces.get(did), [did]);
  const { metadata = {} } = value ?? {};
  const members = membersOf.dataspace.filter((name) => name !== "tags" && name !== "properties" && metadata[name] && empty(name));
  if (!members.length) return null;
  return (
    <p>
      <Button icon="copy" class="tight" onClick={() => take(Object.fromEntries(members.map((name) => [name, metadata[name]])))}>
        As in the dataspace: {members.map((name) => memberLabels[name].toLowerCase()).join(", ")}
      </Button>
    </p>
  );
}
