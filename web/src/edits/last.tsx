// The last bulk edits of a set, which can be undone.
import { useState } from "preact/hooks";
import type { BulkOutcome, Edit } from "../api";
import { edits } from "../api";
import { plural } from "../format";
import { Badge, Button, ErrorMessage, Skeleton, Time } from "../ui/components";
import { useAction, useLoad } from "../ui/load";
import { useRefreshOnFocus } from "../ui/refresh";
import { UserName } from "../ui/users";
import { Problems } from "./changes";
import { undo, Undone } from "./undo";

const what: Record<Edit["kind"], (files: string) => string> = {
  csv: (files) => `${files} changed by a table`,
  many: (files) => `${files} selected and changed`,
  undo: (files) => `${files} restored`,
};

/** @param version changes when there can be a new edit */
export function LastEdits({ sid, mayWrite, version }: { sid: string; mayWrite: boolean; version: number }) {
  const { value, problem, reload, refresh } = useLoad((signal) => edits.list(sid, signal), [sid, version]);
  useRefreshOnFocus(refresh);
  const [outcome, setOutcome] = useState<BulkOutcome | undefined>();
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={3} />;
  if (!value.length) return <p class="dim">No edits yet. Each edit of many files is listed here and can be undone.</p>;
  return (
    <>
      {outcome && (
        <div class="note" role="status">
          <div>
            <Undone of={outcome} sid={sid} />
          </div>
        </div>
      )}
      {outcome && <Problems of={outcome.problems.slice(5)} title="These files also stay unchanged" />}
      <table class="plain edits">
        <thead>
          <tr>
            <th>When</th>
            <th>Who</th>
            <th>What</th>
            <th>
              <span class="visually-hidden">Undo</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {value.map((e) => (
            <tr key={e.id}>
              <td>
                <Time at={e.created} />
              </td>
              <td>
                <UserName id={e.by} />
              </td>
              <td>
                {what[e.kind](plural(e.objects, "file"))} {e.undone && <Badge>undone</Badge>}
              </td>
              <td class="end">{mayWrite && !e.undone && <Undo of={e} sid={sid} done={(o) => (setOutcome(o), reload())} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Undo({ of, sid, done }: { of: Edit; sid: string; done: (outcome: BulkOutcome) => void }) {
  const { run, busy, problem } = useAction(() => undo(of, sid).then(done));
  return (
    <>
      {problem && <ErrorMessage problem={problem} />}
      <Button icon="retry" class="tight" busy={busy} onClick={run}>
        {of.kind === "undo" ? "Do it again" : "Undo"}
      </Button>
    </>
  );
}
