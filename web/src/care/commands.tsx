import { root } from "../api";
import { Code } from "../docs/markdown";

/** Where the command line looks by itself. */
const usual = "http://127.0.0.1:8080/v1";

const tasks = [
  {
    label: "Check",
    why: "Reads every file and every record, holds them against each other and names what is wrong. Changes nothing.",
    command: "check",
  },
  { label: "Backup", why: "While people work. The next time only what is new is copied; the last 7 snapshots stay.", command: "backup create /backups/labshelf" },
  {
    label: "Purge",
    why: "Deleting takes nothing off the disk. This removes the files of what was deleted more than 90 days ago; the first line only counts.",
    command: "purge --older-than 90d --dry-run",
    then: "purge --older-than 90d",
  },
];

/** What is better done where it can be watched for hours, and interrupted. */
export function Commands() {
  const here = location.origin + root;
  const rest = `${here === usual ? "" : ` --server ${here}`} --key-file my.key`;
  return (
    <div class="commands">
      <p class="dim">
        These take long, so they are commands. They need the key of a sysadmin, in a file that only you can read: <code>my.key</code>.
      </p>
      {tasks.map(({ label, why, command, then }) => (
        <section key={label}>
          <h3>{label}</h3>
          <p class="dim">{why}</p>
          <Code text={[command, then].flatMap((c) => (c ? [`labshelf ${c}${rest}`] : [])).join("\n")} what={`the commands for ${label.toLowerCase()}`} />
        </section>
      ))}
      <section>
        <h3>On the machine itself</h3>
        <p class="dim">See whether disk and file system keep what they are told to keep. With the service stopped: bring damaged files back from a backup, and give back
          unused room of the metadata.</p>
        <Code text={["labshelf doctor --data DIR", "labshelf repair --from /backups/labshelf --data DIR", "labshelf compact --data DIR"].join("\n")} what="the commands" />
      </section>
    </div>
  );
}
