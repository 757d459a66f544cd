// The pictures of a file, one at a time, with what the file says about them.
import type { StoredFile } from "../api";
import { plural, size } from "../format";
import { setQuery, useLocation } from "../router";
import { Button, ErrorMessage, Skeleton } from "../ui/components";
import { useAnswer } from "./answers";
import { Attributes } from "./attributes";
import type { Decoder } from "./decoder";
import type { Content, Region } from "./messages";
import { Picture } from "./picture";

/** Pixels of a side that are drawn at most. */
const most = 2048;

interface Props {
  file: StoredFile;
  decoder: Decoder;
  content: Content & { view: "pictures" };
}

export function Pictures({ file, decoder, content }: Props) {
  const { query } = useLocation();
  const { sheets, attributes, notes, about } = content;
  const at = Math.min(sheets.length, Math.max(1, Math.floor(Number(query.get("page") ?? 1)) || 1)) - 1;
  const sheet = sheets[at]!;
  const part = query.get("part") ?? "";
  const region = regionOf(at, sheet.width, sheet.height, part);
  const { answer, problem, busy } = useAnswer(decoder, "picture", region);
  const open = (to: number) => setQuery({ page: to > 0 ? String(to + 1) : "", part: "" });
  return (
    <>
      {sheets.length > 1 && (
        <div class="preview-tools">
          <span class="filters">
            <label>
              Page
              <select value={at} onChange={(e) => open(Number(e.currentTarget.value))}>
                {sheets.map((s, i) => (
                  <option key={i} value={i}>
                    {i + 1}: {s.name || `${s.width} × ${s.height}`}
                  </option>
                ))}
              </select>
            </label>
            <Button kind="quiet" disabled={!at} onClick={() => open(at - 1)}>
              Previous
            </Button>
            <Button kind="quiet" disabled={at === sheets.length - 1} onClick={() => open(at + 1)}>
              Next
            </Button>
          </span>
          <span class="dim">{plural(sheets.length, "page")}</span>
        </div>
      )}
      {problem ? (
        <ErrorMessage problem={problem} />
      ) : answer ? (
        <div class={busy ? "busy" : ""} aria-busy={busy}>
          <Picture key={at} raster={answer} name={file.description || file.name} natural about={`${sheet.about} · ${about}${size(file.bytes)}`} />
        </div>
      ) : (
        <Skeleton lines={10} />
      )}
      {Math.max(sheet.width, sheet.height) > most && <Parts sheet={sheet} part={part} />}
      <Attributes attributes={attributes} />
      {notes.map(([title, text]) => (
        <details class="notes" key={title}>
          <summary>{title}</summary>
          <pre tabIndex={0}>{text}</pre>
        </details>
      ))}
    </>
  );
}

/** The part of a sheet that the address names by its column and row of squares, or all of it. */
function regionOf(sheet: number, width: number, height: number, part: string): Region {
  const [, column, row] = /^(\d+)\.(\d+)$/.exec(part) ?? [];
  const [left, top] = [Number(column ?? 0) * most, Number(row ?? 0) * most];
  if (!column || left >= width || top >= height) return { sheet, left: 0, top: 0, width, height, most };
  return { sheet, left, top, width: Math.min(most, width - left), height: Math.min(most, height - top), most };
}

/** A choice of the parts of a large picture, each of which is shown with all of its pixels. */
function Parts({ sheet, part }: { sheet: { width: number; height: number }; part: string }) {
  const [columns, rows] = [Math.ceil(sheet.width / most), Math.ceil(sheet.height / most)];
  const parts = Array.from({ length: Math.min(400, columns * rows) }, (_, i) => [i % columns, Math.floor(i / columns)] as const);
  return (
    <div class="filters">
      <label>
        Show
        <select value={part} onChange={(e) => setQuery({ part: e.currentTarget.value })}>
          <option value="">all of it, fewer pixels</option>
          {parts.map(([c, r]) => (
            <option key={`${c}.${r}`} value={`${c}.${r}`}>
              from row {r * most}, column {c * most}: every pixel
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
