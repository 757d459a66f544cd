import type { Hit } from "../api";
import { Link } from "../router";
import { Badge, Size, Time } from "../ui/components";
import { Icon } from "../ui/icons";
import type { Column } from "../ui/list";
import { Where } from "./names";

const icons = { dataspace: "dataspace", set: "set", resource: "file" } as const;
const kinds = { dataspace: "Dataspace", set: "Set", resource: "File" };

/** The fields that matched. */
const places: Record<string, string> = {
  name: "name",
  title: "title",
  description: "description",
  tags: "tag",
  keywords: "keyword",
  creators: "creator",
  properties: "property",
  path: "path",
  text: "text",
};

const nameOf = (hit: Hit) => (hit.kind === "resource" ? hit.record.name : hit.record.title || hit.record.name);

function Place({ of }: { of: Hit }) {
  if (of.kind === "dataspace") return null;
  return of.kind === "set" ? <Where dataspaceId={of.record.dataspaceId} /> : <Where dataspaceId={of.record.dataspaceId} setId={of.record.setId} />;
}

export const hitColumns: Column<Hit>[] = [
  {
    head: "Found",
    title: nameOf,
    cell: (hit) => (
      <>
        <Link to={`/${hit.kind}s/${hit.record.id}`}>
          <Icon name={icons[hit.kind]} /> <span class="visually-hidden">{kinds[hit.kind]}</span>{" "}
          {nameOf(hit)}
        </Link>
        {hit.kind === "resource" && hit.record.damaged && <Badge tone="bad">damaged</Badge>}
        <small class="narrow-only dim">
          <Place of={hit} />
        </small>
      </>
    ),
  },
  { head: "In", class: "wide-only", cellClass: "dim where", cell: (hit) => <Place of={hit} /> },
  {
    head: "Matched",
    class: "wide-only",
    title: (hit) => hit.matched.map((part) => places[part] ?? part).join(", "),
    cell: (hit) =>
      hit.matched.map((part) => (
        <>
          <Badge>{places[part] ?? part}</Badge>{" "}
        </>
      )),
  },
  { head: "Size", class: "end", cellClass: "dim", cell: (hit) => hit.kind === "resource" && <Size bytes={hit.record.bytes} /> },
  { head: "Changed", class: "wide-only", cellClass: "dim", cell: (hit) => <Time at={hit.record.modified} /> },
];
