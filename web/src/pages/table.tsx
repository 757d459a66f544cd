// The metadata of all files of a set as a table for spreadsheets, and the last edits of many files.
import { useEffect, useRef, useState } from "preact/hooks";
import type { BulkOutcome, BulkProblem, Edit, User } from "../api";
import { dataspaces, edits, sets } from "../api";
import { Changes, maxProblems, Problems, summary } from "../edits/changes";
import { LastEdits } from "../edits/last";
import { notifyEdit } from "../edits/undo";
import { count, plural, size } from "../format";
import { Link } from "../router";
import { useMe } from "../session";
import { Breadcrumbs, breadcrumbsTo, Button, ErrorMessage, PageHeader, Skeleton } from "../ui/components";
import { Icon } from "../ui/icons";
import { useAction, useLoad } from "../ui/load";
import { permissionsIn } from "../ui/permissions";
import { useTitle } from "../ui/title";
import { useDrop } from "../upload/window";
import { useChanges } from "../upload/queue";
import type { PageProps } from "./props";

async function load(sid: string, me: User, signal: AbortSignal) {
  const set = await sets.get(sid);
  const [dataspace, may] = await Promise.all([dataspaces.get(set.dataspaceId), permissionsIn(set.dataspaceId, me, signal)]);
  return { set, dataspace, may };
}

export function TablePage({ params: { sid = "" } }: PageProps) {
  const me = useMe();
  const { value, problem, reload } = useLoad((signal) => load(sid, me, signal), [sid]);
  const changes = useChanges(sid);
  const name = value && (value.set.title || value.set.name);
  useTitle(name && `Metadata of ${name} as a table`);
  if (problem) return <ErrorMessage problem={problem} retry={reload} />;
  if (!value) return <Skeleton lines={8} />;
  const { set, dataspace, may } = value;
  const mayWrite = may.write && set.state === "active";
  return (
    <>
      <Breadcrumbs path={[...breadcrumbsTo(dataspace), { to: `/sets/${sid}`, label: name! }]} />
      <PageHeader title="Metadata as a table" lead="The tags and properties of all files of the set: one row a file, one column a property." />
      <ol class="steps">
        <li class="sheet">
          <h2>Download the table</h2>
          <p>Open it in a spreadsheet such as Excel, LibreOffice or Numbers, or in R or Python.</p>
          <a class="button" href={edits.tableAddress(sid)} download={`${set.name}.csv`}>
            <Icon name="download" /> Download as CSV
          </a>
          <p class="dim">
            If a spreadsheet shows everything in one column, use <a href={edits.tableAddress(sid, "semicolon")} download={`${set.name}.csv`}>CSV with semicolons</a> and decimal commas, which Excel expects in German, French and other languages.
          </p>
        </li>
        <li class="sheet">
          <h2>Edit it</h2>
          <p>
            Change cells. A new property is a new column, <code>properties.operator</code> for one called operator. An empty cell removes the property.
          </p>
          <p>
            Leave the columns <code>id</code> and <code>etag</code> as they are: they identify the file and protect changes that others make in the meantime. Deleted rows and columns change nothing. <Link to="/docs#describe-many-files">More about it</Link>
          </p>
        </li>
        <li class="sheet">
          <h2>Upload it again</h2>
          {mayWrite ? <UploadTable sid={sid} /> : <p class="dim">Editors of the dataspace can change metadata.</p>}
        </li>
      </ol>
      <section class="sheet" aria-label="Last edits">
        <h2>Last edits of many files</h2>
        <LastEdits sid={sid} mayWrite={mayWrite} version={changes} />
      </section>
    </>
  );
}

/** The interval of progress requests, in ms. */
const interval = 1000;

/** The number of files that a running edit has changed. */
function Progress({ sid, after, of }: { sid: string; after: string | undefined; of: number }) {
  const [done, setDone] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      const note = ([last]: Edit[]) => last && last.id !== after && setDone(last.objects);
      edits.list(sid).then(note, () => {}); // the edit itself reports errors
    }, interval);
    return () => clearInterval(timer);
  }, [after]);
  return (
    <>
      <progress aria-label="Files changed" value={done} max={of} />
      <span class="num" role="status">
        {count(done)} of {plural(of, "file")}
      </span>
    </>
  );
}

/** The selected table, and its changes. */
interface Selected {
  file: File;
  outcome: BulkOutcome;
}

function UploadTable({ sid }: { sid: string }) {
  const input = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<File | undefined>();
  const [selected, setSelected] = useState<Selected | undefined>();
  const [left, setLeft] = useState<BulkProblem[]>([]); // problems of the last change
  const latest = useRef<File | undefined>(undefined);
  const preview = useAction(async () => {
    const of = latest.current!;
    const outcome = await edits.apply(sid, of, true);
    if (latest.current === of) setSelected({ file: of, outcome });
  });
  const [before, setBefore] = useState<string | undefined>(); // the id of the previous edit
  const apply = useAction(async () => {
    setBefore((await edits.list(sid))[0]?.id);
    const outcome = await edits.apply(sid, selected!.file, false);
    setSelected(undefined);
    setFile(undefined);
    setLeft(outcome.problems);
    notifyEdit(outcome, sid);
  });
  const select = (of: File | undefined) => {
    if (!of) return;
    latest.current = of;
    setFile(of);
    setSelected(undefined);
    setLeft([]);
    apply.dismiss();
    void preview.run();
  };
  const over = useDrop(({ files }) => select(files[0]));
  const outcome = selected?.outcome;
  return (
    <>
      <p>You see the changes first. Nothing changes until you confirm.</p>
      <input
        ref={input}
        type="file"
        accept=".csv,text/csv"
        hidden
        aria-label="Edited table"
        onChange={() => {
          select(input.current!.files![0]);
          input.current!.value = ""; // allows selecting the same file again
        }}
      />
      <Button icon="upload" kind={selected ? "plain" : "primary"} busy={preview.busy} onClick={() => input.current!.click()}>
        {file ? "Select another table" : "Select the edited table"}
      </Button>
      <span class="dim"> or drop it on this page</span>
      {over && (
        <div class="drop-here" role="status">
          Drop the table
        </div>
      )}
      {file && (
        <p class="dim">
          {file.name}, {size(file.size)}
          {preview.busy && <span role="status">: being compared with the files …</span>}
        </p>
      )}
      {preview.problem && <ErrorMessage problem={preview.problem} retry={preview.run} />}
      {outcome && (
        <>
          <p role="status">
            {!outcome.problems.length && <strong>{summary(outcome)}</strong>} {plural(outcome.rows, "row")} read.
          </p>
          <Problems of={outcome.problems} title={`${outcome.problems.length < maxProblems ? plural(outcome.problems.length, "problem") : `At least ${maxProblems} problems`}: nothing changes until they are fixed`} />
          {outcome.changed > 0 && !outcome.problems.length && (
            <p class="apply">
              <Button kind="primary" icon="check" busy={apply.busy} onClick={apply.run}>
                Change {plural(outcome.changed, "file")}
              </Button>
              {apply.busy && <Progress sid={sid} after={before} of={outcome.changed} />}
            </p>
          )}
          {apply.problem && <ErrorMessage problem={apply.problem} retry={apply.run} />}
          <Changes of={outcome} />
        </>
      )}
      <Problems of={left} title="These were not changed" />
    </>
  );
}
