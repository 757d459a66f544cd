// Sequences: a list of records, and the coloured letters of one record in blocks, with the
// qualities of reads.
import { useMemo, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { count } from "../format";
import { Chart } from "../plot/chart";
import type { Group } from "../plot/series";
import { setQuery, useLocation } from "../router";
import { ErrorMessage, Skeleton } from "../ui/components";
import { useAnswer } from "./answers";
import { Steps } from "./array";
import { Attributes } from "./attributes";
import type { Decoder } from "./decoder";
import { groupOf, groupsOf, qualityBar, qualityGroup, qualityGroups } from "./letters";
import type { Content, Item, Letters, Quality } from "./messages";
import { textOf } from "./values";

interface Props {
  file: StoredFile;
  decoder: Decoder;
  content: Content & { view: "sequences" };
}

/** Limits per step: records of the list, letters of a sequence, letters of a block, and letters of
    a line. */
const listed = 50;
const page = 3000;
const block = 10;
const line = 60;

export function Sequences({ file, decoder, content }: Props) {
  const { table, quality } = content;
  const nested = file.content !== undefined; // the address belongs to the archive
  const { query } = useLocation();
  const [local, setLocal] = useState(0);
  const wanted = nested ? local : Number(query.get("item") ?? 0) || 0;
  const records = table.shape![0]!;
  const chosen = Math.min(Math.max(0, Math.floor(wanted)), records - 1);
  const choose = (record: number) => (nested ? setLocal(record) : setQuery({ item: record ? String(record) : "" }));
  return (
    <>
      <div class="preview-tools">
        <span class="dim">{content.about}</span>
      </div>
      {records > 0 && (
        <div class={`sides ${records > 1 ? "both" : ""}`}>
          {records > 1 && <List key={records <= listed ? content.about : ""} {...{ decoder, table, chosen, choose }} />}
          <section class="side" aria-label="Sequence">
            <Sequence key={content.more && chosen === records - 1 ? content.about : chosen} decoder={decoder} record={chosen} />
          </section>
        </div>
      )}
      {quality && <QualityCharts quality={quality} name={file.name} />}
      <Attributes attributes={content.attributes} />
    </>
  );
}

function List({ decoder, table, chosen, choose }: { decoder: Decoder; table: Item; chosen: number; choose: (record: number) => void }) {
  const [records, columns] = table.shape as [number, number];
  const [from, setFrom] = useState(Math.floor(chosen / listed) * listed);
  const argument = { id: table.id!, fixed: [0, 0], rows: 0, columns: 1, from: [from, 0], count: [Math.min(listed, records - from), columns], most: [listed, columns] };
  const { answer, problem } = useAnswer(decoder, "slice", argument as Parameters<typeof useAnswer<"slice">>[2]);
  if (problem) return <ErrorMessage problem={problem} />;
  if (!answer) return <Skeleton lines={8} />;
  const numeric = (column: number) => (column > 0 && column < columns - 1 ? "number" : "");
  return (
    <div class="records">
      <div class="wide sheet-table" tabIndex={0} role="region" aria-label={`List of ${table.name}`}>
        <table>
          <thead>
            <tr>
              {table.columns!.map((name, c) => (
                <th scope="col" key={c} class={numeric(c)}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: answer.height }, (_, r) => (
              <tr key={r} data-record={from + r}>
                {table.columns!.map((_, c) => {
                  const text = textOf(answer.values, r * answer.width + c);
                  return c === 0 ? (
                    <th scope="row" key={c}>
                      <button type="button" class="link" aria-pressed={from + r === chosen} onClick={() => choose(from + r)}>
                        {text.slice(0, 80) || "(no name)"}
                      </button>
                    </th>
                  ) : (
                    <td key={c} class={numeric(c)}>
                      {c === 1 ? count(Number(text)) : text.slice(0, 120)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Steps what={table.name} at={from} step={listed} of={records} go={setFrom} />
    </div>
  );
}

function Sequence({ decoder, record }: { decoder: Decoder; record: number }) {
  const [from, setFrom] = useState(0);
  const { answer, problem, busy } = useAnswer(decoder, "letters", { record, from, count: page });
  if (problem) return <ErrorMessage problem={problem} />;
  if (!answer) return <Skeleton lines={10} />;
  const about = [`${count(answer.length)} ${answer.nucleic ? "bases" : "letters"}`, answer.mean !== undefined && answer.length ? `mean quality ${answer.mean.toFixed(1)}` : ""];
  return (
    <>
      <h2 class="preserve">{answer.name || "(no name)"}</h2>
      {answer.description && <p>{answer.description.slice(0, 1000)}</p>}
      <p class="dim">{about.filter(Boolean).join(" · ")}</p>
      <div class={busy ? "busy" : ""} aria-busy={busy}>
        <LettersView part={answer} />
      </div>
      <p class="preview-foot">
        <Steps what="letters" at={from} step={page} of={answer.length} go={(to) => setFrom(Math.floor(to / line) * line)} />
      </p>
      <Legend part={answer} />
    </>
  );
}

/** Runs of letters of one group: one element per letter would be too many. */
function runs(text: string, groups: string[]): [group: string, text: string][] {
  const found: [string, string][] = [];
  for (let i = 0; i < text.length; i++) {
    const last = found.at(-1);
    if (last && last[0] === groups[i]) last[1] += text[i];
    else found.push([groups[i]!, text[i]!]);
  }
  return found;
}

function LettersView({ part }: { part: Letters }) {
  const { letters, quality, nucleic, from } = part;
  if (!letters) return <p class="hint">This record has no letters.</p>;
  const lines = Array.from({ length: Math.ceil(letters.length / line) }, (_, i) => i * line);
  return (
    <div class="letters" tabIndex={0} role="region" aria-label="Letters">
      <table>
        <tbody>
          {lines.map((start) => (
            <tr key={start}>
              <th scope="row" class="dim num">
                {count(from + start + 1)}
              </th>
              <td>
                {blocks(letters.slice(start, start + line)).map(([text, at]) => (
                  <span class="block" key={at}>
                    <span class="row">
                      {runs(text, Array.from(text, (letter) => groupOf(letter, nucleic))).map(([group, run], i) => (
                        <span key={i} class={`letter ${group}`}>
                          {run}
                        </span>
                      ))}
                    </span>
                    {quality && <Qualities values={quality.slice(start + at, start + at + text.length)} />}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const blocks = (text: string): [string, number][] => Array.from({ length: Math.ceil(text.length / block) }, (_, i) => [text.slice(i * block, (i + 1) * block), i * block]);

/** Bars whose height and colour show the qualities of the letters above. */
function Qualities({ values }: { values: number[] }) {
  const text = values.map(qualityBar).join("");
  return (
    <span class="row quality" title={`qualities ${values.join(" ")}`}>
      {runs(text, values.map(qualityGroup)).map(([group, run], i) => (
        <span key={i} class={group} aria-hidden="true">
          {run}
        </span>
      ))}
      <span class="visually-hidden">qualities {values.join(" ")}</span>
    </span>
  );
}

function Legend({ part: { nucleic, quality } }: { part: Letters }) {
  return (
    <p class="letters-legend dim">
      {groupsOf(nucleic).map(([group, about, letters]) => (
        <span key={group}>
          <span class={`letter ${group}`}>{letters}</span> {about}
        </span>
      ))}
      {quality &&
        qualityGroups.map(([group, about, bar]) => (
          <span key={group} class="quality">
            <span class={group} aria-hidden="true">
              {bar}
            </span>{" "}
            {about}
          </span>
        ))}
    </p>
  );
}

const groupsFor = (values: number[], from: number, name: string): Group[] => [
  { series: { x: Float64Array.from(values, (_, i) => i + from), ys: [Float64Array.from(values)], ordered: true, without: 0 }, curves: [{ name, y: 0 }] },
];

function QualityCharts({ quality: { byPosition, histogram }, name }: { quality: Quality; name: string }) {
  const positions = useMemo(() => groupsFor(byPosition, 1, "mean quality"), [byPosition]);
  const top = histogram.findLastIndex((n) => n > 0);
  const reads = useMemo(() => groupsFor(histogram.slice(0, top + 2), 0, "reads"), [histogram]);
  return (
    <div class="quality-charts">
      {byPosition.length > 1 && (
        <section aria-label="Mean quality by position">
          <h2>Mean quality by position</h2>
          <Chart groups={positions} xLabel="position" title={`${name}: mean quality`} />
        </section>
      )}
      <section aria-label="Reads by mean quality">
        <h2>Reads by mean quality</h2>
        <Chart groups={reads} xLabel="mean quality, rounded" title={`${name}: reads`} marks="steps" />
      </section>
    </div>
  );
}
