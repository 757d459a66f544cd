import { useEffect } from "preact/hooks";
import type { Status } from "../api";
import { root, service } from "../api";
import type { PageProps } from "../app";
import { Commands } from "../care/commands";
import { Told } from "../care/told";
import { Link } from "../router";
import { useMe } from "../session";
import { Empty, Failed, Waiting } from "../ui/basics";
import { Icon } from "../ui/icons";
import { useLoad } from "../ui/load";

/** How often it is looked at, in ms. */
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

function Watched() {
  const { value: status, problem, reload } = useLoad(() => service.status(), []);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") reload();
    };
    const timer = setInterval(look, pace);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
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
      {problem && <Failed problem={problem} retry={reload} />}
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
    means: "The disk failed to keep something. Reading goes on; every change is refused until the service is restarted.",
    help: [
      "Look at the disk: the log of the system, and smartctl -a.",
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
