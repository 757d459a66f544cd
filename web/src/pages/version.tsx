import type { Problem, Version } from "../api";
import { dataAddress, versions } from "../api";
import { Preview } from "../preview/preview";
import { Link, navigate, setQuery, useLocation } from "../router";
import { useMe } from "../session";
import { Breadcrumbs, breadcrumbsTo, ErrorMessage, Facts, Size, Skeleton, Time } from "../ui/components";
import { FilterBar } from "../ui/filters";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";
import { ForPrograms } from "../ui/programs";
import { useRefreshOnFocus } from "../ui/refresh";
import { useTitle } from "../ui/title";
import { UserName } from "../ui/users";
import { EraseVersion, LabelVersion, RestoreVersion } from "../versions/actions";
import { Comparison } from "../versions/comparison";
import { VersionBadges } from "../versions/list";
import { Removed } from "../versions/removed";
import type { PageProps } from "./props";
import { loadResource } from "./resource";

/** One version of a file: its preview and its record, or its differences to another version. */
export function VersionPage({ params }: PageProps) {
  const rid = params.rid!;
  const number = params.number!;
  const me = useMe();
  const { query } = useLocation();
  const { value, problem, reload, refresh, set } = useLoad(async (signal) => {
    const [context, version] = await Promise.all([loadResource(rid, me, signal), versions.get(rid, number)]);
    return { ...context, version };
  }, [rid, number]);
  useRefreshOnFocus(refresh);
  const v = value?.version;
  useTitle(v && `${v.name}, version ${v.version}`);
  if (problem) return <Missing rid={rid} problem={problem} retry={reload} />;
  if (!value || !v) return <Skeleton lines={12} />;
  const { resource, dataspace, may } = value;
  const mayWrite = may.write && !v.removed;
  const other = Number(query.get("with")) || undefined;
  const update = (version: Version) => set({ ...value, version });
  return (
    <>
      <Breadcrumbs
        path={[
          ...breadcrumbsTo(dataspace),
          { to: `/sets/${value.set.id}`, label: value.set.title || value.set.name },
          { to: `/resources/${rid}`, label: resource.name },
        ]}
      />
      <div class="title">
        <div>
          <h1>
            {v.name}, version {v.version} <VersionBadges of={v} />
          </h1>
          {v.description && <p class="preserve prose">{v.description}</p>}
        </div>
        <div class="actions">
          {mayWrite && <LabelVersion version={v} done={update} />}
          {me.sysadmin && !v.current && !v.removed && <EraseVersion version={v} done={update} />}
          {mayWrite && !v.current && <RestoreVersion version={v} resource={resource} done={() => navigate(`/resources/${rid}`)} refresh={refresh} />}
          {!v.removed && (
            <a class="button primary" href={dataAddress(v)} download>
              <Icon name="download" /> Download <Size bytes={v.bytes} />
            </a>
          )}
        </div>
      </div>
      <FilterBar>
        <OtherVersion number={other} newest={resource.version} />
        {other && <Link to={`/resources/${rid}/versions/${number}`}>Show version {v.version} alone</Link>}
      </FilterBar>
      {v.shared && <p class="note">The bytes stay because another version, file or running upload has the same content.</p>}
      <div class="with-sidebar">
        <section class="sheet preview" aria-label={other ? "Comparison" : "Preview"}>
          {other ? <Comparison key={other} version={v} other={other} /> : v.removed ? <Removed version={v} /> : <Preview file={{ ...v, setId: resource.setId }} />}
        </section>
        <section class="sheet" aria-label="About this version">
          <About version={v} />
        </section>
      </div>
    </>
  );
}

/** A missing version, or a version of a file in the trash. */
function Missing({ rid, problem, retry }: { rid: string; problem: Problem; retry: () => void }) {
  return (
    <>
      <ErrorMessage problem={problem} retry={retry} />
      <p>
        <Link to={`/resources/${rid}`}>Go to the file</Link>
      </p>
    </>
  );
}

/** The number of the version to compare with. */
function OtherVersion({ number, newest }: { number: number | undefined; newest: number }) {
  return (
    <label>
      Compare with version
      <input type="number" min={1} max={newest} value={number ?? ""} onChange={(e) => setQuery({ with: e.currentTarget.value })} />
    </label>
  );
}

function About({ version: v }: { version: Version }) {
  return (
    <>
      <Facts
        facts={[
        [
          "Saved",
          <>
            <Time at={v.created} /> by <UserName id={v.createdBy} />
          </>,
        ],
        ["Format", v.format || "unknown"],
        ["Type", <code>{v.mimetype}</code>],
        ["Size", <Size bytes={v.bytes} />],
        ["File name", v.filename],
      ]}
      />
      <ForPrograms facts={[["SHA-256", v.sha256, "the digest"]]} path={`/resources/${v.resourceId}/versions/${v.version}/data`} output={v.filename} />
    </>
  );
}
