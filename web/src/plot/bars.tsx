// A histogram: the number of values of the columns in each bin.
import { useMemo } from "preact/hooks";
import { count, plural } from "../format";
import { Button } from "../ui/components";
import { Chart } from "./chart";
import { csvOf } from "./csvout";
import { Exact } from "./results";
import { saveFile } from "./save";
import type { Group } from "./series";
import { binsByRule, Histogram } from "./statistics";

interface Props {
  groups: Group[];
  bins: number | "auto";
  logY: boolean;
  title: string;
}

/** The maximum number of bins in the table. */
const maxListed = 500;

interface Counted {
  edges: Float64Array;
  counts: Float64Array[];
  names: string[];
  /** The values to count. */
  n: number;
}

/** Counts the finite values of all curves in bins with the same edges. By default, a rule derives
    the number of bins from all values. */
function counted(groups: Group[], bins: number | "auto"): Counted | undefined {
  const curves = groups.flatMap(({ series, curves }) => curves.map((c) => ({ name: c.name, values: series.ys[c.y]!.filter(Number.isFinite) })));
  const n = curves.reduce((sum, c) => sum + c.values.length, 0);
  if (!n) return undefined;
  const all = new Float64Array(n);
  let at = 0;
  for (const { values } of curves) {
    all.set(values, at);
    at += values.length;
  }
  all.sort();
  const histogram = new Histogram(all[0]!, all[n - 1]!, bins === "auto" ? binsByRule(all) : bins);
  return { edges: histogram.edges, counts: curves.map((c) => histogram.count(c.values)), names: curves.map((c) => c.name), n };
}

export function Bars({ groups, bins, logY, title }: Props) {
  const found = useMemo(() => counted(groups, bins), [groups, bins]);
  const drawn = useMemo<Group[]>(() => {
    if (!found) return [];
    const ys = found.counts.map((c) => Float64Array.from(found.edges, (_, i) => c[Math.min(i, c.length - 1)]!));
    return [{ series: { x: found.edges, ys, ordered: true, without: 0 }, curves: found.names.map((name, y) => ({ name, y })) }];
  }, [found]);
  if (!found) return <p class="hint">No numbers to count.</p>;
  const save = () => {
    const series = { ...drawn[0]!.series, x: found.edges.slice(0, -1) };
    saveFile(csvOf([{ ...drawn[0]!, series }], [-Infinity, Infinity], "from", false), "text/csv", `${title.replace(/\.\w+$/, "")}-histogram.csv`, "csv");
  };
  const total = found.edges.length - 1;
  return (
    <>
      <Chart groups={drawn} xLabel={found.names.join(", ")} yLabel="count" logY={logY} marks="steps" title={title}>
        <Button kind="quiet" icon="download" onClick={save}>
          CSV
        </Button>
      </Chart>
      <p class="hint">
        {plural(found.n, "value")} in {plural(total, "bin")} of <Exact of={found.edges[1]! - found.edges[0]!} />
        {bins === "auto" ? ", chosen by the Freedman–Diaconis rule." : "."}
      </p>
      <details class="values">
        <summary>Counts</summary>
        <div class="wide" tabIndex={0} role="region" aria-label="Counts">
          <table data-bins={total}>
            <thead>
              <tr>
                {["from", "below", ...found.names].map((head, i) => (
                  <th scope="col" key={i}>
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {Array.from({ length: Math.min(total, maxListed) }, (_, b) => (
                <tr key={b}>
                  {[b, b + 1].map((at) => (
                    <td key={at}>
                      <Exact of={found.edges[at]!} />
                    </td>
                  ))}
                  {found.counts.map((c, i) => (
                    <td key={`count${i}`} class="number">
                      {count(c[b]!)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {total > maxListed && <p class="hint">These are the first {count(maxListed)} bins; the CSV has all.</p>}
      </details>
    </>
  );
}
