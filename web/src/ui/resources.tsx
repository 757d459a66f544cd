import type { Resource } from "../api";
import { Link } from "../router";
import { Badge, Size, Time } from "./components";
import { Icon } from "./icons";
import type { Column } from "./list";

export const resourceColumns: Column<Resource>[] = [
  {
    head: "File",
    cellClass: (r) => r.state,
    title: (r) => r.name,
    cell: (r) => (
      <>
        <Link to={`/resources/${r.id}`}>
          <Icon name="file" /> {r.name}
        </Link>{" "}
        {r.state === "deleted" && <Badge tone="bad">{r.purged ? "purged" : "deleted"}</Badge>}
        {r.damaged && <Badge tone="bad">damaged</Badge>}
      </>
    ),
  },
  { head: "Format", class: "wide-only", cellClass: "dim", cell: (r) => r.format },
  { head: "Size", class: "end", cellClass: "dim", cell: (r) => <Size bytes={r.bytes} /> },
  { head: "Changed", class: "wide-only", cellClass: "dim", cell: (r) => <Time at={r.modified} /> },
  { head: "Description", class: "wide-only", cellClass: "dim", cell: (r) => r.description },
];
