import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem, Status } from "../api";
import { root, service } from "../api";
import { listen } from "../events";
import { Link } from "../router";
import { Commands } from "../service/commands";
import { StatusDetails } from "../service/details";
import { useMe } from "../session";
import { Empty, ErrorMessage, PageHeader, Skeleton } from "../ui/components";
import { Icon } from "../ui/icons";
import { asProblem } from "../ui/load";
import { useTitle } from "../ui/title";

/** The pause between an answer and the next request, in ms. */
const interval = 5000;

/** The status of the service, for sysadmins. */
export function ServicePage() {
  const me = useMe();
  useTitle("Service");
  if (!me.sysadmin) {
    return (
      <Empty icon="server" title="This page is for sysadmins">
        <p>It shows the status of the service. Ask a sysadmin if something does not work.</p>
        <Link to="/">Go to the dataspaces</Link>
      </Empty>
    );
  }
  return <StatusView />;
}

/** Polls the status while the page is visible: the next request follows some time after the answer, so that there is one at a time. */
function useStatus(): { status?: Status; problem?: Problem; poll: () => void } {
  const [state, setState] = useState<{ status?: Status; problem?: Problem }>({});
  const latest = useRef(() => {});
  useEffect(() => {
    let timer = 0;
    let asking = false;
    let unmounted = false;
    const poll = async () => {
      if (asking || document.visibilityState !== "visible") return;
      asking = true;
      clearTimeout(timer);
      await service.status().then((status) => setState({ status }), (thrown) => setState({ problem: asProblem(thrown) }));
      asking = false;
      if (!unmounted) timer = setTimeout(poll, interval);
    };
    latest.current = poll;
    void poll();
    const remove = listen(document, "visibilitychange", poll);
    return () => {
      unmounted = true;
      clearTimeout(timer);
      remove();
    };
  }, []);
  return { ...state, poll: latest.current };
}

function StatusView() {
  const { status, problem, poll } = useStatus();
  return (
    <>
      <PageHeader
        title="Service"
        lead={
          <>
            Updated every five seconds. For monitoring: <a href={`${root}/status`}>{`${root}/status`}</a>
          </>
        }
      />
      {problem && <ErrorMessage problem={problem} retry={poll} />}
      {!problem && !status && <Skeleton lines={8} />}
      {status && (
        <div class="status-columns">
          <section class="sheet" aria-label="Status">
            <State status={status} />
            {status.detail && <StatusDetails detail={status.detail} />}
          </section>
          <section class="sheet" aria-labelledby="terminal">
            <h2 id="terminal">Commands</h2>
            <Commands />
          </section>
        </div>
      )}
    </>
  );
}

/** The meaning of each status, and what to do; docs/how-to/recovery.md has the details. */
const meanings: Record<Status["status"], { means: string; help?: string[] }> = {
  OK: { means: "Reading and writing work." },
  "READ-ONLY": {
    means: "A write to the disk failed, or no space is left. Reading works, but changes are refused until space is free or, after a failed write, until the service restarts.",
    help: [
      "If no space is left, free some. Changes work again without a restart.",
      "Otherwise check the disk: the system log, and smartctl -a.",
      "Copy the data directory as it is to another disk.",
      "Restart the service, then run labshelf check.",
    ],
  },
  FAILING: {
    means: "Records cannot be read. Nothing works; monitoring gets 503.",
    help: [
      "Copy the data directory as it is to another disk, and stop the service if it still runs.",
      "Run labshelf doctor, then labshelf check, both with --data and the data directory.",
      "If the metadata are damaged, restore a backup to another directory.",
    ],
  },
};

function State({ status }: { status: Status }) {
  const { means, help } = meanings[status.status] ?? { means: "Unknown status." };
  const good = status.status === "OK";
  return (
    <>
      <p class={`status-line ${good ? "good" : "bad"}`} role="status">
        <Icon name={good ? "check" : "warning"} />
        <strong>{status.status}</strong>
        <span>{means}</span>
      </p>
      {help && (
        <div class="note bad">
          <div class="prose">
            <p>What to do:</p>
            <ol>
              {help.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
          </div>
        </div>
      )}
      <p class="dim">
        labshelf {status.version} on {status.hostname}
        {status.node !== status.hostname && ` (${status.node})`}, metadata in {status.engine}
      </p>
    </>
  );
}
