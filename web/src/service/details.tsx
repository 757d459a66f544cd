// The details of the status, for sysadmins. Unknown fields of a later version are shown
// unformatted.
import type { ComponentChildren } from "preact";
import { count, duration, plural } from "../format";
import { Size, Time } from "../ui/components";
import { Icon } from "../ui/icons";

interface Line {
  label: string;
  help: string;
  /** Renders the value. */
  show: (value: any) => ComponentChildren;
  /** Whether the value needs attention. */
  bad?: (value: any) => boolean;
  /** Hidden while the value is empty. */
  optional?: boolean;
}

/** By interface name; nested fields by their paths. In page order. */
const lines: Record<string, Line> = {
  failing: { label: "Read error", help: "The error while reading records.", show: String, bad: Boolean, optional: true },
  readOnly: { label: "Write error", help: "The disk error that blocks changes.", show: String, bad: Boolean, optional: true },
  started: { label: "Started", help: "When this process started.", show: (v: string) => <Time at={v} /> },
  damaged: {
    label: "Damaged files",
    help: "Files known to be damaged or missing, counted up to 1000. Run check to list them, then repair them from a backup.",
    show: (n: number) => (n ? plural(n, "file") : "none known"),
    bad: (n: number) => n > 0,
  },
  background: {
    label: "Background errors",
    help: "Background tasks that currently fail and are retried. See the log for details.",
    show: (tasks: Record<string, string>) => {
      const failing = Object.entries(tasks);
      return failing.length ? failing.map(([task, error]) => <p key={task}>{`${task}: ${error}`}</p>) : "none";
    },
    bad: (tasks: Record<string, string>) => Object.keys(tasks).length > 0,
  },
  clockBehind: {
    label: "Clock",
    help: "Times never go backwards. While the clock is behind the last change, new changes get a time just after it. Correct the clock.",
    show: (ms: number) => (ms ? `${ms < 1000 ? `${ms} ms` : duration(ms / 1000)} behind the last change` : "not behind the last change"),
    bad: (ms: number) => ms > 60_000,
  },
  "scrub.begun": {
    label: "Scrub",
    help: "The scrub reads all files to find damage early. The time is the start of the current pass.",
    show: (v: string) => (v ? <Time at={v} /> : "not begun"),
  },
  "scrub.checked": { label: "Files read in this pass", help: "Each is compared with its SHA-256.", show: count },
  "scrub.found": {
    label: "Damage found in this pass",
    help: "These files count as damaged until they are repaired or uploaded again.",
    show: (n: number) => (n ? plural(n, "file") : "none"),
    bad: (n: number) => n > 0,
  },
  "scrub.passes": { label: "Completed passes", help: "Number of completed passes over all files.", show: count },
  nodes: {
    label: "Nodes",
    help: "The nodes of this cluster that were active in the last minute.",
    show: (all: { name: string; version: string; seen: string }[]) =>
      all.length
        ? all.map((node) => (
            <p key={node.name + node.seen}>
              {`${node.name}: labshelf ${node.version}, seen `}
              <Time at={node.seen} />
            </p>
          ))
        : "one",
  },
  identity: { label: "Identity", help: "The same for this repository, its backups, and repositories restored from them.", show: (v: string) => <code>{v}</code> },
  "epoch.id": { label: "Epoch", help: "Each restored backup begins a new one.", show: (v: string) => <code>{v}</code> },
  "epoch.base": {
    label: "Restored up to",
    help: "The last change in the backup that was restored.",
    show: (v: string) => <Time at={v} />,
    optional: true,
  },
  "epoch.began": { label: "Epoch began", help: "When the repository was created or restored.", show: (v: string) => <Time at={v} /> },
  "held.files": { label: "Inline files", help: "Small files that are stored in the database until they are flushed to files. Above 100 MB for an hour, see the log.", show: count },
  "held.bytes": { label: "Inline bytes", help: "The size of the inline files.", show: (n: number) => <Size bytes={n} />, bad: (n: number) => n > 100e6 },
};

/** Flattens nested objects, except those shown on one line. */
function flat(detail: Record<string, unknown>, prefix = ""): [string, unknown][] {
  return Object.entries(detail).flatMap(([name, value]): [string, unknown][] => {
    const path = prefix + name;
    const object = value !== null && typeof value === "object" && !Array.isArray(value);
    return object && !lines[path] ? flat(value as Record<string, unknown>, `${path}.`) : [[path, value]];
  });
}

export function StatusDetails({ detail }: { detail: Record<string, unknown> }) {
  const values = new Map(flat(detail));
  const known = Object.entries(lines).filter(([path, { optional }]) => values.has(path) && !(optional && !values.get(path)));
  const others = [...values].filter(([path]) => !lines[path]);
  return (
    <ul class="status-details">
      {known.map(([path, { label, help, show, bad }]) => {
        const value = values.get(path);
        const isBad = bad?.(value) ?? false;
        return (
          <li key={path}>
            <span>{label}</span>
            <div>
              <div class={isBad ? "bad" : ""}>
                {isBad && <Icon name="warning" />}
                <div>{show(value)}</div>
              </div>
              <p class="dim hint">{help}</p>
            </div>
          </li>
        );
      })}
      {others.map(([path, value]) => (
        <li key={path}>
          <code>{path}</code>
          <div>{typeof value === "string" ? value : JSON.stringify(value)}</div>
        </li>
      ))}
    </ul>
  );
}
