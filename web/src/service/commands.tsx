import { root } from "../api";
import { Code } from "../ui/components";

/** The default server of the commands. */
const defaultServer = "http://127.0.0.1:8080/v1";

const tasks = [
  {
    label: "Check",
    why: "Reads all files and records, compares them, and reports errors. Changes nothing.",
    command: "check",
  },
  { label: "Backup", why: "Can run while the service is in use. Later backups copy only new files. The last 7 snapshots are kept.", command: "backup create /backups/labshelf" },
  {
    label: "Purge",
    why: "Deleting does not free space. This removes files deleted more than 90 days ago. The first line only counts them.",
    command: "purge --older-than 90d --dry-run",
    then: "purge --older-than 90d",
  },
];

/** Commands for long tasks. They run in a terminal, where they can be watched and interrupted. */
export function Commands() {
  const here = location.origin + root;
  const rest = `${here === defaultServer ? "" : ` --server ${here}`} --key-file my.key`;
  return (
    <div class="commands">
      <p class="dim">
        Run long tasks in a terminal. They require the key of a sysadmin in a file that only you can read: <code>my.key</code>.
      </p>
      {tasks.map(({ label, why, command, then }) => (
        <section key={label}>
          <h3>{label}</h3>
          <p class="dim">{why}</p>
          <Code text={[command, then].flatMap((c) => (c ? [`labshelf ${c}${rest}`] : [])).join("\n")} what={`the commands for ${label.toLowerCase()}`} />
        </section>
      ))}
      <section>
        <h3>On the server</h3>
        <p class="dim">Test whether disk and file system store data reliably. With the service stopped: restore damaged files from a backup, and release unused
          space of the metadata.</p>
        <Code text={["labshelf doctor --data DIR", "labshelf repair --from /backups/labshelf --data DIR", "labshelf compact --data DIR"].join("\n")} what="the commands" />
      </section>
    </div>
  );
}
