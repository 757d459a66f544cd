import { useState } from "preact/hooks";
import type { Resource, Version } from "../api";
import { dataAddress, versions } from "../api";
import { Link } from "../router";
import { Badge, Empty, Size, Time } from "../ui/components";
import { Icon } from "../ui/icons";
import { hiddenHead, VirtualList } from "../ui/list";
import { UserName } from "../ui/users";
import { LabelVersion, restoredAs, RestoreVersion } from "./actions";

export const versionPage = (v: Version, compareWith?: number) =>
  `/resources/${v.resourceId}/versions/${v.version}${compareWith ? `?with=${compareWith}` : ""}`;

/** The badges of a version: its label, and whether its file exists. */
export function VersionBadges({ of: v }: { of: Version }) {
  return (
    <>
      {v.current && <Badge tone="accent">current</Badge>} {v.label && <Badge tone="good">{v.label}</Badge>} {v.removed && <Badge tone="bad">removed</Badge>}{" "}
      {v.damaged && <Badge tone="bad">damaged</Badge>}
    </>
  );
}

interface Props {
  resource: Resource;
  mayWrite: boolean;
  /** Called with the resource after a version was restored. */
  done: (resource: Resource) => void;
  refresh: () => void;
}

/** The versions of a file, the newest first. */
export function Versions({ resource, mayWrite, done, refresh }: Props) {
  const [labelled, setLabelled] = useState(0);
  const [report, setReport] = useState("");
  return (
    <section class="sheet" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      <p role="status" class={report && "note"}>
        {report}
      </p>
      <VirtualList<Version>
        id={resource.id}
        version={resource.version + labelled}
        create={() => versions.list(resource.id)}
        keyOf={(v) => String(v.version)}
        label="Versions"
        noun={["version", "versions"]}
        kind="versions"
        columns={[
          {
            head: "Version",
            title: (v) => v.label,
            cell: (v) => (
              <>
                <Link to={versionPage(v)}>Version {v.version}</Link> <VersionBadges of={v} />
              </>
            ),
          },
          {
            head: "Saved",
            cellClass: "saved dim",
            cell: (v) => (
              <>
                <Time at={v.created} /> by <UserName id={v.createdBy} />
              </>
            ),
          },
          { head: "Size", class: "end wide-only", cellClass: "dim", cell: (v) => <Size bytes={v.bytes} /> },
          {
            head: hiddenHead("Actions"),
            class: "end tools",
            cell: (v) =>
              !v.removed && (
                <>
                  {!v.current && (
                    <Link to={versionPage(v, resource.version)} class="button quiet tight wide-only" aria-label={`Compare version ${v.version} with the current one`}>
                      Compare
                    </Link>
                  )}
                  <a class="button quiet tight wide-only" href={dataAddress(v)} download aria-label={`Download version ${v.version}`}>
                    <Icon name="download" />
                  </a>
                  {mayWrite && <LabelVersion version={v} done={() => setLabelled((n) => n + 1)} tight />}
                  {mayWrite && !v.current && (
                    <RestoreVersion version={v} resource={resource} done={(now) => (setReport(restoredAs(v, resource, now)), done(now))} refresh={refresh} tight />
                  )}
                </>
              ),
          },
        ]}
        empty={<Empty icon="file" title="No versions" />}
      />
    </section>
  );
}
