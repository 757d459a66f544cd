import { useEffect, useRef, useState } from "preact/hooks";
import type { Problem, Status } from "../api";
import { root, service } from "../api";
import type { PageProps } from "../app";
import { Commands } from "../care/commands";
import { Told } from "../care/told";
import { Link } from "../router";
import { useMe } from "../session";
import { Empty, Failed, Waiting } from "../ui/basics";
import { Icon } from "../ui/icons";
import { asProblem } from "../ui/load";

/** How long after an answer it is looked at again, in ms. */
const pace = 5000;

/** How the service is, for those who look after it. */
export function ServicePage(_: PageProps) {
  const me = useMe();
  useEffect(() => {
    document.title = "Service · labshelf";
  }, []);
  if (!me.sysadmin) {
    return (
      <Empty icon="server" title="This page is for sysadmins">
        <p>They see here how the service is. Ask one of them if something does not work.</p>
        <Link to="/">Go to the dataspaces</Link>
      </Empty>
    );
  }
  return <Watched />;
}

/** How the service is, asked for anew some time after each answer, while the page is in sight. A slow answer is waited for. */
function useStatus(): { status?: Status; problem?: Problem; look: () => void } {
  const [state, setState] = useState<{ status?: Status; problem?: Problem }>({});
  const latest = useRef(() => {});
  useEffect(() => {
    let timer = 0;
    let asking = false;
    let gone = false;
    const look = async () => {
      if (asking || document.visibilityState !== "visible") return;
      asking = true;
      clearTimeout(timer);
      await service.status().then((status) => setState({ status }), (thrown) => setState({ problem: asProblem(thrown) }));
      asking = false;
      if (!gone) timer = setTimeout(look, pace);
    };
    latest.current = look;
    void look();
    document.addEventListener("visibilitychange", look);
    return () => {
      gone = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  return { ...state, look: latest.current };
}

function Watched() {
  const { status, problem, look } = useStatus();
  return (
    <>
      <div class="title">
        <div>
          <h1>Service</h1>
          <p class="dim">
            Looked at every five seconds, while this page is in sight. For monitors: <a href={`${root}/status`}>{`${root}/status`}</a>
          </p>
        </div>
      </div>
      {problem && <Failed problem={problem} retry={look} />}
      {!problem && !status && <Waiting lines={8} />}
      {status && (
        <div class="looked-after">
          <section class="sheet" aria-label="Now">
            <State status={status} />
            {status.detail && <Told detail={status.detail} />}
          </section>
          <section class="sheet" aria-labelledby="terminal">
            <h2 id="terminal">From a terminal</h2>
            <Commands />
          </section>
        </div>
      )}
    </>
  );
}

/** What each status means, and what to do; docs/operations.md has the long form. */
const meanings: Record<Status["status"], { means: string; help?: string[] }> = {
  OK: { means: "It reads and writes." },
  "READ-ONLY": {
    means: "The disk failed to keep something, or has no room left. Reading goes on; changes are refused: after a failure until the service is restarted, without room until there is some.",
    help: [
      "Where no room is left, make some: nothing else is needed.",
      "Else look at the disk: the log of the system, and smartctl -a.",
      "Copy the data directory as it is to another disk.",
      "Restart the service, then run labshelf check.",
    ],
  },
  FAILING: {
    means: "Records cannot be read. Nothing works, and monitors get 503.",
    help: [
      "Copy the data directory as it is to another disk, and stop the service if it still runs.",
      "Run labshelf doctor, then labshelf check, both with --data and the data directory.",
      "Where the metadata are damaged, restore a backup to another directory.",
    ],
  },
};

function State({ status }: { status: Status }) {
  const { means, help } = meanings[status.status] ?? { means: "This page does not know this status." };
  const good = status.status === "OK";
  return (
    <>
      <p class={`state-of ${good ? "good" : "bad"}`} role="status">
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
      </p>
    </>
  );
}
