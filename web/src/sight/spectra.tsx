// The spectra of a file. One is shown as a plot or a table, with its labels.
import { useMemo } from "preact/hooks";
import type { StoredFile } from "../api";
import { count, plural } from "../format";
import { Plot } from "../plot/plot";
import type { Series } from "../plot/series";
import type { Table } from "../plot/tables";
import { setQuery, useLocation } from "../router";
import { ViewSwitch } from "../ui/components";
import { oneOf } from "../ui/filters";
import { Attributes } from "./attributes";
import type { Content, Spectrum } from "./messages";

interface Props {
  file: StoredFile;
  content: Content & { view: "spectra" };
}

const views = ["plot", "table"] as const;

/** The maximum number of rows. */
const maxRows = 1000;

/** The columns of a spectrum for the plot. */
function tableOf(file: StoredFile, { columns, values, reversed, peaks }: Spectrum, at: number): Table {
  const series = async (x: number, ys: number[]): Promise<Series> => {
    const given = x < 0 ? Float64Array.from(values[0]!, (_, i) => i + 1) : values[x]!;
    const valid = [...given.keys()].filter((i) => Number.isFinite(given[i]!));
    const order = valid.sort((a, b) => given[a]! - given[b]!);
    const pick = (v: Float64Array) => Float64Array.from(order, (i) => v[i]!);
    return { x: pick(given), ys: ys.map((y) => pick(values[y]!)), ordered: !peaks && isMonotonic(given), without: given.length - valid.length };
  };
  return { name: file.filename || file.name, names: columns, types: columns.map(() => "number" as const), loaded: at, series, reversed };
}

/** Whether x ascends or descends throughout, so that a line joins the points. */
function isMonotonic(x: Float64Array): boolean {
  const sign = Math.sign(x[x.length - 1]! - x[0]!);
  return x.every((v, i) => i === 0 || (v - x[i - 1]!) * sign >= 0);
}

export function Spectra({ file, content }: Props) {
  const { query } = useLocation();
  const { spectra } = content;
  const at = Math.min(spectra.length - 1, Math.max(0, Math.floor(Number(query.get("item") ?? 0)) || 0));
  const spectrum = spectra[at]!;
  const view = oneOf(query, "view", views);
  const table = useMemo(() => tableOf(file, spectrum, at), [file, spectrum]);
  return (
    <>
      <div class="preview-tools">
        <ViewSwitch views={views} view={view} onChange={(v) => setQuery({ view: v === "plot" ? "" : v })} />
        {spectra.length > 1 && (
          <label>
            Spectrum
            <select value={at} onChange={(e) => setQuery({ item: e.currentTarget.value, x: "", y: "", from: "", to: "" }, { step: true })}>
              {spectra.map((s, i) => (
                <option key={i} value={i}>
                  {i + 1}: {s.name.slice(0, 60)}
                </option>
              ))}
            </select>
          </label>
        )}
        <span class="dim" role="status">
          {content.about} · {spectrum.about}
          {spectra.length > 1 && ` · ${plural(spectra.length, "spectrum", "spectra")}`}
        </span>
      </div>
      {spectrum.name && <h2 class="preserve">{spectrum.name}</h2>}
      {spectrum.problems.length > 0 && <p class="note">The file contradicts itself. {spectrum.problems.join(" ")}</p>}
      {view === "plot" ? <Plot key={at} table={table} /> : <Rows spectrum={spectrum} />}
      <Attributes key={`labels${at}`} attributes={spectrum.attributes} />
      {content.attributes.length > 0 && (
        <>
          <h2>The file</h2>
          <Attributes attributes={content.attributes} />
        </>
      )}
    </>
  );
}

function Rows({ spectrum: { name, columns, values } }: { spectrum: Spectrum }) {
  const length = values[0]!.length;
  return (
    <>
      <div class="wide sheet-table" tabIndex={0} role="region" aria-label={name || "spectrum"}>
        <table>
          <thead>
            <tr>
              {columns.map((c, i) => (
                <th scope="col" class="number" key={i}>
                  {c}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: Math.min(length, maxRows) }, (_, r) => (
              <tr key={r}>
                {values.map((v, i) => (
                  <td class="number" key={i}>
                    {String(v[r]!)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {length > maxRows && <p class="hint">These are the first {count(maxRows)} of {count(length)} points; the plot and its CSV have all.</p>}
    </>
  );
}
