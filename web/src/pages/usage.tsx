import type { Counters, Usage } from "../api";
import { dataspaces, service, users } from "../api";
import { count, plural } from "../format";
import { Link, useLocation } from "../router";
import { Breadcrumbs, Empty, ErrorMessage, PageHeader, Size, Skeleton } from "../ui/components";
import { Choice, FilterBar, oneOf } from "../ui/filters";
import { useLoad } from "../ui/load";
import { useTitle } from "../ui/title";
import { Bars } from "../usage/bars";
import { Chart } from "../usage/chart";
import { QuotaMeter } from "../usage/quota";
import type { Measure } from "../usage/series";
import { dayOf, seriesOf } from "../usage/series";

const spans = ["all", "365", "90", "30"] as const;

/** The storage used by one dataspace, or by all that the user can read, now and over time. */
export function UsagePage() {
  const { query } = useLocation();
  const did = query.get("dataspace") ?? "";
  const measure = oneOf(query, "measure", ["bytes", "files"]);
  const span = oneOf(query, "days", spans);
  const usage = useLoad<Usage>(() => (did ? dataspaces.usage(did) : service.usage()), [did]);
  const titles = useLoad(titlesOf, []);
  const one = titles.value?.get(did);
  const title = one ? `Usage of ${one.title || one.name}` : "Usage";
  useTitle(title);
  const problem = usage.problem ?? titles.problem;
  const to = (other: string) => `/usage?${new URLSearchParams({ ...Object.fromEntries(query), dataspace: other })}`;
  return (
    <>
      {did && <Breadcrumbs path={[{ to: "/usage", label: "All dataspaces" }]} />}
      <PageHeader
        title={title}
        lead={
          <>
            {did ? <Link to={`/dataspaces/${did}`}>Browse this dataspace.</Link> : "All dataspaces that you can read."} Each file counts in full, even if
            another has the same content. Days are in UTC.
          </>
        }
      />
      <FilterBar>
        <Choice label="Count" name="measure" options={[["bytes", "bytes"], ["files", "files"]]} />
        <Choice label="Time" name="days" options={[["all", "all"], ["365", "a year"], ["90", "90 days"], ["30", "30 days"]]} />
      </FilterBar>
      {problem && <ErrorMessage problem={problem} retry={() => (usage.reload(), titles.reload())} />}
      {!problem && (!usage.value || !titles.value) && <Skeleton lines={16} />}
      {usage.value && titles.value && (
        <>
          <Totals of={usage.value} />
          {did ? (
            <QuotaMeter label="Quota of this dataspace" share={{ used: usage.value.activeBytes + usage.value.deletedBytes + usage.value.oldBytes, quota: usage.value.quota }} />
          ) : (
            <OwnQuota />
          )}
          <OverTime usage={usage.value} measure={measure} last={span === "all" ? undefined : Number(span)} />
          {!did && usage.value.dataspaces && usage.value.dataspaces.length > 0 && (
            <section class="sheet" aria-labelledby="by">
              <h2 id="by">By dataspace</h2>
              <Bars of={usage.value.dataspaces} titles={titles.value} measure={measure} to={to} />
            </section>
          )}
        </>
      )}
    </>
  );
}

/** The bytes that the user has stored, next to the quota. */
function OwnQuota() {
  const { value } = useLoad(() => users.usage("me"), []);
  return value ? <QuotaMeter label="Your quota: all versions of your files" share={value} /> : null;
}

async function titlesOf(signal: AbortSignal) {
  const { items } = await dataspaces.list({ state: "all", limit: 1000 }).all(100_000, signal);
  return new Map(items.map((d) => [d.id, d]));
}

function Totals({ of: u }: { of: Counters }) {
  return (
    <dl class="totals">
      <div>
        <dt>Active</dt>
        <dd>
          <Size bytes={u.activeBytes} /> <span>in {plural(u.activeFiles, "file")}</span>
        </dd>
      </div>
      <div>
        <dt>Deleted, in the trash until purged</dt>
        <dd>
          <Size bytes={u.deletedBytes} /> <span>in {plural(u.deletedFiles, "file")}</span>
        </dd>
      </div>
      <div>
        <dt>Old versions of files</dt>
        <dd>
          <Size bytes={u.oldBytes} /> <span>in {plural(u.oldVersions, "version")}</span>
        </dd>
      </div>
    </dl>
  );
}

function OverTime({ usage, measure, last }: { usage: Usage; measure: Measure; last: number | undefined }) {
  const series = seriesOf(usage.days, measure, last);
  // The totals at the start of the range are the totals of the last day before it.
  const first = Math.max(0, usage.days.findLastIndex((d) => Date.parse(d.day) <= series.from));
  return (
    <section class="sheet" aria-labelledby="over">
      <h2 id="over">Over time</h2>
      {usage.days.length ? (
        <>
          <Chart series={series} measure={measure} />
          <Numbers days={usage.days.slice(first)} />
        </>
      ) : (
        <Empty icon="chart" title="No files yet">
          The chart begins with the first file.
        </Empty>
      )}
    </section>
  );
}

/** The numbers of the chart. */
function Numbers({ days }: { days: Usage["days"] }) {
  return (
    <details class="by-day">
      <summary>As a table</summary>
      <div class="wide" tabIndex={0} role="region" aria-label="Usage by day">
        <table class="plain num">
          <thead>
            <tr>
              <th scope="col">End of</th>
              <th scope="col">Active bytes</th>
              <th scope="col">Active files</th>
              <th scope="col">Deleted bytes</th>
              <th scope="col">Deleted files</th>
              <th scope="col">Bytes of old versions</th>
              <th scope="col">Old versions</th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map((d) => (
              <tr key={d.day}>
                <th scope="row">
                  <time dateTime={d.day}>{dayOf(Date.parse(d.day))}</time>
                </th>
                <td>{count(d.activeBytes)}</td>
                <td>{count(d.activeFiles)}</td>
                <td>{count(d.deletedBytes)}</td>
                <td>{count(d.deletedFiles)}</td>
                <td>{count(d.oldBytes)}</td>
                <td>{count(d.oldVersions)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <p class="dim">Days without changes are left out.</p>
      </div>
    </details>
  );
}
