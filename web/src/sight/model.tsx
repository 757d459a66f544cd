// Atoms and surfaces in three dimensions, with a text summary, and as a table if they cannot be
// drawn.
import { useEffect, useMemo, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { count, plural, size } from "../format";
import { TextView } from "../preview/text";
import { setQuery, useLocation } from "../router";
import { Button, ErrorMessage, ViewSwitch } from "../ui/components";
import { useAnswer } from "./answers";
import { TableOf } from "./array";
import { Attributes } from "./attributes";
import type { Decoder } from "./decoder";
import { elements } from "./elements";
import type { Chosen, Content, Model } from "./messages";
import { chainColours, sceneOf, stylesOf } from "./solid/scene";
import { Stage } from "./solid/stage";

type ModelContent = Content & { view: "model" };

interface Props {
  file: StoredFile;
  decoder: Decoder;
  content: ModelContent;
}

const views = ["model", "atoms", "text"] as const;

const value = (e: Event) => (e.currentTarget as HTMLSelectElement).value;

export function ModelView({ file, decoder, content }: Props) {
  const { query } = useLocation();
  const frame = Math.min(content.frames, Math.max(1, Math.floor(Number(query.get("frame"))) || 1)) - 1;
  const form = Math.max(0, content.forms.indexOf(query.get("form") ?? content.forms[content.form] ?? ""));
  const isFirst = frame === 0 && form === content.form;
  const { answer, problem, busy } = useModel(decoder, isFirst ? undefined : { frame, form });
  const model = (!isFirst && answer) || content.model;
  const offered = views.filter((v) => v === "model" || (v === "atoms" ? model.atoms : !/binary/.test(content.about)));
  const view = offered.find((v) => v === query.get("view")) ?? "model";
  const [lost, setLost] = useState(false);
  const name = file.description || file.name;
  const table = model.atoms && <AtomTable decoder={decoder} model={model} id={frame * Math.max(1, content.forms.length) + form} name={name} />;
  return (
    <>
      <div class="preview-tools">
        {offered.length > 1 && <ViewSwitch views={offered} view={view} onChange={(v) => setQuery({ view: v === "model" ? "" : v })} />}
        <span class="dim">
          {content.about} · {size(file.bytes)}
        </span>
      </div>
      <Frames content={content} frame={frame} title={model.title} form={form} />
      {problem && <ErrorMessage problem={problem} />}
      <div class={busy ? "busy" : ""} aria-busy={busy}>
        {view === "text" ? (
          <TextView file={file} />
        ) : view === "atoms" ? (
          table
        ) : lost ? (
          <>
            <p class="hint">
              This browser cannot draw in three dimensions (it has no WebGL 2), or has stopped doing so.{" "}
              <Button kind="quiet" onClick={() => setLost(false)}>
                Try again
              </Button>
            </p>
            {table}
          </>
        ) : (
          <Drawing first={content.frame === "model" && form === content.form ? content.model : model} model={model} name={name} onLost={() => setLost(true)} />
        )}
      </div>
      {model.notes.map((note) => (
        <p class="hint" key={note}>
          {note}
        </p>
      ))}
      <Attributes key={frame} attributes={[...(model.title && content.frames === 1 ? [["title", model.title] as [string, string]] : []), ...model.facts, ...content.attributes]} />
    </>
  );
}

/** The response for the last requested model. Models that a slider passes while the decoder is busy
    are skipped. */
function useModel(decoder: Decoder, wanted: Chosen | undefined) {
  const [asked, setAsked] = useState(wanted);
  const found = useAnswer(decoder, "model", asked);
  useEffect(() => {
    if (!found.busy) setAsked(wanted);
  }, [found.busy, wanted?.frame, wanted?.form]);
  return found;
}

/** The shown model, and its form. */
function Frames({ content, frame, form, title }: { content: ModelContent; frame: number; form: number; title: string }) {
  const { frames, forms } = content;
  const open = (to: number) => setQuery({ frame: to > 0 ? String(Math.min(frames, to + 1)) : "" });
  if (frames < 2 && !forms.length) return null;
  return (
    <div class="filters frames">
      {frames > 1 && (
        <>
          <label>
            {content.frame[0]!.toUpperCase() + content.frame.slice(1)}
            <input type="range" min={1} max={frames} value={frame + 1} onInput={(e) => open(Number(value(e)) - 1)} />
          </label>
          <Button kind="quiet" disabled={!frame} onClick={() => open(frame - 1)}>
            Previous
          </Button>
          <Button kind="quiet" disabled={frame === frames - 1} onClick={() => open(frame + 1)}>
            Next
          </Button>
          <span class="num" role="status">
            {count(frame + 1)} of {count(frames)}
            {title && `: ${title}`}
          </span>
        </>
      )}
      {forms.length > 0 && (
        <label>
          Atoms
          <select value={form} onChange={(e) => setQuery({ form: forms[Number(value(e))]! })}>
            {forms.map((f, i) => (
              <option key={f} value={i}>
                {f}
              </option>
            ))}
          </select>
        </label>
      )}
    </div>
  );
}

function AtomTable({ decoder, model, id, name }: { decoder: Decoder; model: Model; id: number; name: string }) {
  const atoms = model.atoms!;
  const shape = [atoms.elements.length, atoms.columns.length];
  if (!shape[0]) return <p class="hint">This structure has no atoms.</p>;
  return <TableOf key={id} decoder={decoder} item={{ name, about: "", id, shape, columns: atoms.columns }} name={name} slice={{ fixed: [0, 0], rows: 0, columns: 1 }} />;
}

/** @param first the model that determines the centre and the scale */
function Drawing({ first, model, name, onLost }: { first: Model; model: Model; name: string; onLost: () => void }) {
  const { query } = useLocation();
  const { atoms } = model;
  const styles = stylesOf(model);
  const style = styles.find((s) => s === query.get("style")) ?? styles[0]!;
  const hasChains = (atoms?.chainNames.length ?? 0) > 1;
  const colourings = hasChains ? ["elements", "chains"] : ["elements"];
  const colours = colourings.find((c) => c === query.get("colours")) ?? (hasChains && style === "backbone" ? "chains" : "elements");
  const isChecked = (name: string, byDefault: boolean) => (query.get(name) ?? (byDefault ? "yes" : "no")) === "yes";
  const hasWater = style !== "backbone" && !!atoms?.parts.includes(2);
  const water = hasWater && isChecked("water", !atoms?.trace.length);
  const cell = !!model.cell && isChecked("cell", !atoms?.trace.length);
  const scene = useMemo(() => sceneOf(model, first, { style, colours, water, cell }), [model, first, style, colours, water, cell]);
  return (
    <>
      <div class="filters">
        {styles.length > 1 && <Choice label="Style" options={styles} chosen={style} onChange={(s) => setQuery({ style: s })} />}
        {hasChains && <Choice label="Colours" options={colourings} chosen={colours} onChange={(c) => setQuery({ colours: c })} />}
        {hasWater && <Check label="Water" checked={water} onChange={(on) => setQuery({ water: on ? "yes" : "no" })} />}
        {model.cell && <Check label="Unit cell" checked={cell} onChange={(on) => setQuery({ cell: on ? "yes" : "no" })} />}
      </div>
      <Stage scene={scene} name={name} slanted={!atoms || cell} onLost={onLost} />
      {atoms && <Legend model={model} byChain={colours === "chains"} />}
    </>
  );
}

function Choice({ label, options, chosen, onChange }: { label: string; options: string[]; chosen: string; onChange: (option: string) => void }) {
  return (
    <label>
      {label}
      <select value={chosen} onChange={(e) => onChange(value(e))}>
        {options.map((o) => (
          <option key={o} value={o}>
            {o}
          </option>
        ))}
      </select>
    </label>
  );
}

function Check({ label, checked, onChange }: { label: string; checked: boolean; onChange: (on: boolean) => void }) {
  return (
    <label>
      <input type="checkbox" checked={checked} onChange={() => onChange(!checked)} />
      {label}
    </label>
  );
}

/** The legend: the colour and the number of atoms of each element or chain. */
function Legend({ model, byChain }: { model: Model; byChain: boolean }) {
  const { elements: numbers, chains, chainNames } = model.atoms!;
  const rows = useMemo(() => {
    const counts = new Map<number, number>();
    for (const n of byChain ? chains : numbers) counts.set(n, (counts.get(n) ?? 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  }, [model, byChain]);
  const most = 24;
  return (
    <ul class="legend" aria-label="Colours">
      {rows.slice(0, most).map(([n, atoms]) => (
        <li key={n}>
          <svg viewBox="0 0 12 12" aria-hidden="true">
            <circle cx="6" cy="6" r="5.5" fill={`#${byChain ? chainColours[n % chainColours.length] : elements[n]!.colour}`} />
          </svg>
          {byChain ? `chain ${chainNames[n] || "without a name"}` : `${elements[n]!.symbol} ${elements[n]!.name}`} <span class="dim num">{count(atoms)}</span>
        </li>
      ))}
      {rows.length > most && <li class="dim">{plural(rows.length - most, "more")}</li>}
    </ul>
  );
}
