import type { Resource } from "../api";
import { Link } from "../router";
import { Badge, Size, Time } from "./components";
import { RowIcon } from "./kinds";
import type { Column } from "./list";

/** @param incomplete the ids of incomplete files
    @param below the path of the shown folder: file names are relative to it */
export const resourceColumnsOf = (incomplete: ReadonlySet<string>, below = ""): Column<Resource>[] => [
  {
    head: "File",
    cellClass: (r) => r.state,
    title: (r) => r.name,
    cell: (r) => (
      <span class="named">
        <Link to={`/resources/${r.id}`}>
          <RowIcon file={r} /> {r.name.slice(below.length) || r.name}
        </Link>{" "}
        {r.state === "deleted" && <Badge tone="bad">{r.purged ? "purged" : "deleted"}</Badge>}
        {r.damaged && <Badge tone="bad">damaged</Badge>} {incomplete.has(r.id) && <Badge>incomplete</Badge>}
      </span>
    ),
  },
  { head: "Format", class: "wide-only", cellClass: "dim", cell: (r) => r.format },
  { head: "Size", class: "end", cellClass: "dim", cell: (r) => <Size bytes={r.bytes} /> },
  { head: "Changed", class: "wide-only", cellClass: "dim", cell: (r) => <Time at={r.modified} /> },
  { head: "Created", class: "wide-only", cellClass: "dim", cell: (r) => <Time at={r.created} /> },
  { head: "Type", class: "wide-only", cellClass: "dim", title: (r) => r.mimetype, cell: (r) => r.mimetype },
  { head: "Version", class: "wide-only end", cellClass: "dim", cell: (r) => r.version },
  { head: "Description", class: "wide-only", cellClass: "dim", cell: (r) => r.description },
];

/** The default columns. */
export const resourceColumns = resourceColumnsOf(new Set()).filter(({ head }) => !["Created", "Type", "Version"].includes(String(head)));
