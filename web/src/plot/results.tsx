// The results of a plot as text: fitted lines, and the values in view.
import { useMemo } from "preact/hooks";
import { count, plural } from "../format";
import type { Line } from "./figure";
import { type Group, within } from "./series";
import type { CurveFit, Figures } from "../sight/messages";
import { LineFit } from "./statistics";

type Range = [min: number, max: number];

/** Straight lines through the points of the curves in a range of x. */
export function fitsOf(groups: Group[], range: Range): CurveFit[] {
  return groups.flatMap(({ series, curves, thinned }) =>
    curves.map((curve) => {
      if (thinned) return thinned.fit;
      const line = new LineFit(curve.error !== undefined);
      const [from, to] = within(series, range);
      const y = series.ys[curve.y]!;
      const errors = curve.error === undefined ? undefined : series.ys[curve.error]!;
      for (let i = from; i < to; i++) line.add(series.x[i]!, y[i]!, errors?.[i]);
      return { fit: line.fit(), unweighted: line.unweighted };
    }),
  );
}

export const linesOf = (fits: CurveFit[]): Line[] => fits.flatMap(({ fit }, curve) => (fit ? [{ curve, slope: fit.slope, intercept: fit.intercept }] : []));

/** A number for people; its exact value is in `value`. */
export function Exact({ of }: { of: number }) {
  const digits = Number.isFinite(of) ? String(Number(of.toPrecision(7))).replace("-", "−").replace("e+", "e") : "–";
  return (
    <data value={String(of)} title={String(of)}>
      {digits}
    </data>
  );
}

export function FitTable({ groups, fits, part, time }: { groups: Group[]; fits: CurveFit[]; part: boolean; time: boolean }) {
  const curves = groups.flatMap((g) => g.curves);
  const weighted = curves.some((c) => c.error !== undefined);
  const left = fits.reduce((n, f) => n + f.unweighted, 0);
  const none = curves.filter((_, i) => fits[i] && !fits[i]!.fit);
  return (
    <section class="fits" aria-label="Fit by a straight line">
      <div class="wide" tabIndex={0} role="region" aria-label="Lines of fit">
        <table>
          <thead>
            <tr>
              <th scope="col">Fit: y = a + b x</th>
              <th scope="col">slope b</th>
              <th scope="col">standard error</th>
              <th scope="col">intercept a</th>
              <th scope="col">standard error</th>
              <th scope="col">R²</th>
              {weighted && <th scope="col">χ² / degrees of freedom</th>}
              <th scope="col">n</th>
            </tr>
          </thead>
          <tbody>
            {curves.map((curve, i) => {
              const fit = fits[i]?.fit;
              return (
                fit && (
                  <tr key={i}>
                    <th scope="row">
                      <Swatch of={i} /> {curve.name}
                    </th>
                    {[fit.slope, fit.slopeError, fit.intercept, fit.interceptError, fit.r2].map((v, at) => (
                      <td key={at}>
                        <Exact of={v} />
                      </td>
                    ))}
                    {weighted && (
                      <td>
                        {fit.chi2 !== undefined && (
                          <>
                            <Exact of={fit.chi2} /> / {count(fit.n - 2)}
                          </>
                        )}
                      </td>
                    )}
                    <td>{count(fit.n)}</td>
                  </tr>
                )
              );
            })}
          </tbody>
        </table>
      </div>
      <p class="hint">
        {[
          part ? "Least-squares fit of the points in view." : "Least-squares fit of all points.",
          weighted ? "With an error column, points are weighted by 1/σ², and the standard errors follow from the errors of the points." : "",
          left ? `${plural(left, "point")} ${left === 1 ? "is" : "are"} left out, because ${left === 1 ? "its" : "their"} error is not a positive number.` : "",
          none.length ? `No line fits ${none.map((c) => c.name).join(", ")}: at least two points with different X are needed.` : "",
          time ? "X is in seconds since 1970, so the slope is per second." : "",
        ]
          .filter(Boolean)
          .join(" ")}
      </p>
    </section>
  );
}

export function Swatch({ of }: { of: number }) {
  return <span class={`swatch series-${of + 1}`} aria-hidden="true" />;
}

function figuresOf(groups: Group[], range: Range): (Figures & { name: string })[] {
  return groups.flatMap(({ series, curves, thinned }) =>
    curves.map(({ name, y }) => {
      if (thinned) return { ...thinned.figures, name };
      const [from, to] = within(series, range);
      const f = { name, n: 0, omitted: 0, min: Infinity, max: -Infinity, mean: 0 };
      for (let i = from; i < to; i++) {
        const v = series.ys[y]![i]!;
        if (!Number.isFinite(v)) continue;
        f.n++;
        f.min = Math.min(f.min, v);
        f.max = Math.max(f.max, v);
        f.mean += (v - f.mean) / f.n;
      }
      return f;
    }),
  );
}

/** The values in view as text, for people who cannot see the plot. */
export function Summary({ groups, range, xLabel, time }: { groups: Group[]; range: Range; xLabel: string; time: boolean }) {
  const figures = useMemo(() => figuresOf(groups, range), [groups, range]);
  const end = (v: number) => (time ? new Date(v * 1000).toISOString().replace(/(:00)?\.000Z$/, " UTC").replace("T", " ") : <Exact of={v} />);
  return (
    <details class="values">
      <summary>Values in view</summary>
      <p>
        {plural(figures.length, "curve")} over {xLabel} from {end(range[0])} to {end(range[1])}.
      </p>
      <div class="wide" tabIndex={0} role="region" aria-label="Values in view">
        <table>
          <thead>
            <tr>
              {["Curve", "values", "minimum", "mean", "maximum"].map((head) => (
                <th scope="col" key={head}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {figures.map((f, i) => (
              <tr key={i}>
                <th scope="row">
                  <Swatch of={i} /> {f.name}
                </th>
                <td>{count(f.n)}</td>
                {[f.min, f.mean, f.max].map((v, at) => (
                  <td key={at}>{f.n ? <Exact of={v} /> : "–"}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
