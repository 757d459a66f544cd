// The schemas of a dataspace, as its page lists them.
import type { Schema } from "../api";
import { schemas } from "../api";
import { plural } from "../format";
import { Link } from "../router";
import { Badge, Empty, ErrorMessage, Skeleton, Time } from "../ui/components";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import { appliesTo } from "./types";

interface Props {
  did: string;
  mayManage: boolean;
  /** The search for the incomplete files of the dataspace. */
  incomplete: string;
}

export function SchemaList({ did, mayManage, incomplete }: Props) {
  const { value, problem, reload, refresh } = useLoad((signal) => schemas.list(did, signal), [did]);
  useRefreshOnFocus(refresh);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={4} />;
  const make = mayManage && (
    <Link to={`/dataspaces/${did}/schemas/new`} class="button">
      <Icon name="plus" /> New form
    </Link>
  );
  if (!value.length)
    return (
      <Empty icon="file" title="No forms yet">
        <p>A form defines the properties to fill in for each file or set, such as sample, instrument or temperature. The search finds them.</p>
        {make || <p>Admins of the dataspace create forms.</p>}
      </Empty>
    );
  return (
    <>
      <div class="filters">
        {make}
        <Link to={incomplete} class="button quiet">
          <Icon name="search" /> Incomplete files
        </Link>
      </div>
      <table class="plain schemas">
        <thead>
          <tr>
            <th>Form</th>
            <th>For</th>
            <th class="wide-only">Fields</th>
            <th class="wide-only">If something is missing</th>
            <th class="wide-only">Version</th>
            <th class="wide-only">Changed</th>
          </tr>
        </thead>
        <tbody>
          {value.map((s) => (
            <SchemaRow key={s.id} of={s} />
          ))}
        </tbody>
      </table>
    </>
  );
}

function SchemaRow({ of: s }: { of: Schema }) {
  const { fields } = s.form;
  return (
    <tr>
      <th scope="row">
        <Link to={`/schemas/${s.id}`}>{s.title || s.name}</Link> {s.state === "deleted" && <Badge tone="bad">deleted</Badge>}
        {s.description && <p class="dim">{s.description}</p>}
      </th>
      <td>{appliesTo(s)}</td>
      <td class="wide-only dim" title={fields.map((f) => f.label).join(", ")}>
        {plural(fields.length, "field")}
      </td>
      <td class="wide-only dim">{s.enforce ? "insists" : "reminds"}</td>
      <td class="wide-only dim num">{s.version}</td>
      <td class="wide-only dim">
        <Time at={s.modified} />
      </td>
    </tr>
  );
}
