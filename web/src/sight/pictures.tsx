// The pictures of a file, one at a time, with their attributes.
import type { StoredFile } from "../api";
import { plural, size } from "../format";
import { setQuery, useLocation } from "../router";
import { Button, ErrorMessage, Skeleton } from "../ui/components";
import { useAnswer } from "./answers";
import { Attributes } from "./attributes";
import type { Decoder } from "./decoder";
import type { Content } from "./messages";
import { Picture } from "./picture";
import { useSteering } from "./steering";

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
  const { region, steering } = useSteering(at, sheet);
  const stored = query.get("stored") === "1";
  const { answer, of, problem, busy } = useAnswer(decoder, "picture", { ...region, stored });
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
      {sheet.packed && (
        <div class="preview-tools">
          <label>
            <input type="checkbox" checked={stored} onChange={() => setQuery({ stored: stored ? "" : "1" })} />
            As stored
          </label>
          <span class="dim">{sheet.packed}</span>
        </div>
      )}
      {problem ? (
        <>
          <ErrorMessage problem={problem} />
          {steering?.in && <Button onClick={() => steering.in!()}>Show a smaller part</Button>}
        </>
      ) : answer ? (
        <div class={busy ? "busy" : ""} aria-busy={busy}>
          <Picture key={at} raster={answer} name={file.description || file.name} natural about={`${sheet.about} · ${about}${size(file.bytes)}`} pixel={sheet.pixel} unit={stored ? undefined : sheet.unit} steering={steering} origin={of && [of.top, of.left]} />
        </div>
      ) : (
        <Skeleton lines={10} />
      )}
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
