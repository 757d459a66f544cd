// How a resource looks in a list, wherever it is listed.
import type { ComponentChildren } from "preact";
import type { Resource } from "../api";
import { Link } from "../router";
import { Badge, Size, Time } from "./basics";
import { Icon } from "./icons";

export function ResourceColumns({ mark }: { mark?: ComponentChildren }) {
  return (
    <>
      {mark && <span role="columnheader">{mark}</span>}
      <span role="columnheader">File</span>
      <span role="columnheader" class="wide-only">
        Format
      </span>
      <span role="columnheader" class="end">
        Size
      </span>
      <span role="columnheader" class="wide-only">
        Changed
      </span>
      <span role="columnheader" class="wide-only">
        Description
      </span>
    </>
  );
}

/** @param mark stands first, such as a box to choose the row */
export function ResourceRow({ resource: r, mark }: { resource: Resource; mark?: ComponentChildren }) {
  return (
    <>
      {mark && <span role="cell">{mark}</span>}
      <span role="cell" class={r.state} title={r.name}>
        <Link to={`/resources/${r.id}`}>
          <Icon name="file" /> {r.name}
        </Link>{" "}
        {r.state === "deleted" && <Badge tone="bad">{r.purged ? "purged" : "deleted"}</Badge>}
        {r.damaged && <Badge tone="bad">damaged</Badge>}
      </span>
      <span role="cell" class="wide-only dim">
        {r.format}
      </span>
      <span role="cell" class="end dim">
        <Size bytes={r.bytes} />
      </span>
      <span role="cell" class="wide-only dim">
        <Time at={r.modified} />
      </span>
      <span role="cell" class="wide-only dim">
        {r.description}
      </span>
    </>
  );
}
