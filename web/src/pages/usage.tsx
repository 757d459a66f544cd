import { useEffect } from "preact/hooks";
import type { Counters, Usage } from "../api";
import { dataspaces, service } from "../api";
import type { PageProps } from "../app";
import { count, plural } from "../human";
import { Link, usePlace } from "../router";
import { Crumbs, Empty, Failed, Size, Waiting } from "../ui/basics";
import { useLoad } from "../ui/load";
import { Choice, oneOf, Tools } from "../ui/state";
import { Bars } from "../usage/bars";
import { Chart } from "../usage/chart";
import type { Measure } from "../usage/series";
import { dayOf, seriesOf } from "../usage/series";

const spans = ["all", "365", "90", "30"] as const;

/** How much is kept, and how that came to be: in all dataspaces that the visitor may read, or in one. */
export function UsagePage(_: PageProps) {
  const { query } = usePlace();
  const did = query.get("dataspace") ?? "";
  const measure = oneOf(query, "measure", ["bytes", "files"]);
  const span = oneOf(query, "days", spans);
  const usage = useLoad<Usage>(() => (did ? dataspaces.usage(did) : service.usage()), [did]);
  const titles = useLoad(titlesOf, []);
  const one = titles.value?.get(did);
  const title = one ? `Usage of ${one.title || one.name}` : "Usage";
  useEffect(() => {
    document.title = `${title} · labshelf`;
  }, [title]);
  const problem = usage.problem ?? titles.problem;
  const to = (other: string) => `/usage?${new URLSearchParams({ ...Object.fromEntries(query), dataspace: other })}`;
  return (
    <>
      {did && <Crumbs way={[{ to: "/usage", label: "All dataspaces" }]} />}
      <div class="title">
        <div>
          <h1>{title}</h1>
          <p class="dim">
            {did ? <Link to={`/dataspaces/${did}`}>Browse this dataspace</Link> : "What the dataspaces that you may read hold."} Each file counts in full, also
            where two have the same content. Days are those of UTC.
          </p>
        </div>
      </div>
      <Tools>
        <Choice label="Count" name="measure" options={[["bytes", "bytes"], ["files", "files"]]} />
        <Choice label="Time" name="days" options={[["all", "all of it"], ["365", "a year"], ["90", "90 days"], ["30", "30 days"]]} />
      </Tools>
      {problem && <Failed problem={problem} retry={() => (usage.reload(), titles.reload())} />}
      {!problem && (!usage.value || !titles.value) && <Waiting lines={16} />}
      {usage.value && titles.value && (
        <>
          <Sums of={usage.value} />
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

async function titlesOf(signal: AbortSignal) {
  const { items } = await dataspaces.list({ state: "all", limit: 1000 }).all(100_000, signal);
  return new Map(items.map((d) => [d.id, d]));
}

function Sums({ of: u }: { of: Counters }) {
  return (
    <dl class="sums">
      <div>
        <dt>Active</dt>
        <dd>
          <Size bytes={u.activeBytes} /> <span>in {plural(u.activeFiles, "file")}</span>
        </dd>
      </div>
      <div>
        <dt>Deleted, in the trash until they are purged</dt>
        <dd>
          <Size bytes={u.deletedBytes} /> <span>in {plural(u.deletedFiles, "file")}</span>
        </dd>
      </div>
    </dl>
  );
}

function OverTime({ usage, measure, last }: { usage: Usage; measure: Measure; last: number | undefined }) {
  const series = seriesOf(usage.days, measure, last);
  // What was there when the time begins was counted on the last day before it.
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
        <Empty icon="chart" title="Nothing has been put in yet">
          From the first file on, each day is drawn here.
        </Empty>
      )}
    </section>
  );
}

/** The same as numbers. */
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
              </tr>
            ))}
          </tbody>
        </table>
        <p class="dim">Days on which nothing changed are left out.</p>
      </div>
    </details>
  );
}
