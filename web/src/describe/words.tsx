// Metadata values as text.
import type { ComponentChildren } from "preact";
import { searchFor } from "../find/query";
import { Link } from "../router";
import type { Creator, DateOf, Funding, Group, Place, Related, Value } from "./metadata";
import { isGroup, isNumber, isQuantity, numberText, parse } from "./metadata";
import { spaced } from "./vocabulary";

/** A value on one line. */
export function valueText(v: Value): string {
  if (isNumber(v)) return numberText(v);
  if (typeof v === "string") return v;
  if (typeof v === "boolean") return v ? "yes" : "no";
  if (Array.isArray(v)) return v.map(valueText).join(", ");
  if (isQuantity(v)) return `${valueText(v.value)} ${v.unit}`;
  return Object.entries(v)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join("; ");
}

/** A field value that the service stores as JSON, on one line; "" if it is empty. */
export function jsonText(text: string): string {
  try {
    return text && valueText(parse(text) as Value);
  } catch {
    return text; // truncated
  }
}

/** The values of a group with their names; nested groups follow with their paths. */
export function valueRows(of: Group, within = ""): [name: string, value: Value][] {
  return Object.entries(of).flatMap(([name, value]) => {
    const path = within + name;
    if (isGroup(value)) return valueRows(value, `${path} › `);
    if (Array.isArray(value) && value.some(isGroup)) return value.flatMap((v, i) => valueRows({ [`${path} ${i + 1}`]: v }));
    return [[path, value]];
  });
}

function Outside({ to, children = to }: { to: string; children?: ComponentChildren }) {
  return (
    <a href={to} rel="noreferrer">
      {children}
    </a>
  );
}

/** A text, as a link if it is an address. */
export function LinkedText({ text }: { text: string }) {
  return /^https?:\/\/[^\s]+$/.test(text) ? <Outside to={text} /> : <span class="preserve">{text}</span>;
}

export const TagLinks = ({ tags, field = "tag" }: { tags: string[]; field?: string }) => (
  <ul class="chips">
    {tags.map((tag) => (
      <li key={tag}>
        <Link class="chip" to={searchFor(field, tag)} title={`Search for the ${field} ${tag}`}>
          {tag}
        </Link>
      </li>
    ))}
  </ul>
);

export function CreatorLine({ of: { name, orcid, affiliations = [] } }: { of: Creator }) {
  return (
    <>
      <Link to={searchFor("creator", name)} title={`Search for data by ${name}`}>
        {name}
      </Link>
      {orcid && <Outside to={`https://orcid.org/${orcid}`}>ORCID {orcid}</Outside>}
      {affiliations.length > 0 && <span class="dim">{affiliations.join("; ")}</span>}
    </>
  );
}

/** The link target of an identifier, by its type. */
const resolvers: Record<string, string> = {
  DOI: "https://doi.org/",
  Handle: "https://hdl.handle.net/",
  arXiv: "https://arxiv.org/abs/",
  PMID: "https://pubmed.ncbi.nlm.nih.gov/",
};

export function RelatedLine({ of: { identifier, type, relation } }: { of: Related }) {
  const resolver = resolvers[type];
  return (
    <>
      {spaced(relation)} {resolver && !identifier.includes("://") ? <Outside to={resolver + encodeURI(identifier)}>{identifier}</Outside> : <LinkedText text={identifier} />}
      <span class="dim">{type}</span>
    </>
  );
}

export function DateLine({ of: { date, type, information } }: { of: DateOf }) {
  return (
    <>
      {spaced(type)} {date.replace("/", " to ")} {information && <span class="dim preserve">{information}</span>}
    </>
  );
}

export function FundingLine({ of: { funder, funderId, award, title, uri } }: { of: Funding }) {
  const grant = [award, title].filter(Boolean).join(", ");
  return (
    <>
      {funder} {funderId && <LinkedText text={funderId} />}
      {uri && /^https?:/.test(uri) ? <Outside to={uri}>{grant || uri}</Outside> : grant}
    </>
  );
}

export function PlaceLine({ of: { name, latitude, longitude, box } }: { of: Place }) {
  const number = (v: Value | undefined) => (v === undefined ? "" : valueText(v));
  return (
    <>
      {name}
      {latitude !== undefined && (
        <span class="dim">
          latitude {number(latitude)}°, longitude {number(longitude)}°
        </span>
      )}
      {box && (
        <span class="dim">
          from {number(box.west)}° to {number(box.east)}° east, {number(box.south)}° to {number(box.north)}° north
        </span>
      )}
    </>
  );
}
