// What the service tells sysadmins of itself. A later one may tell more than this page knows: that is shown as it comes.
import type { ComponentChildren } from "preact";
import { count, duration, plural } from "../human";
import { Size, Time } from "../ui/basics";
import { Icon } from "../ui/icons";

interface Line {
  label: string;
  help: string;
  /** Draws the value. */
  show: (value: any) => ComponentChildren;
  /** Whether somebody should do something about it. */
  bad?: (value: any) => boolean;
  /** Is left out while there is nothing to say. */
  quiet?: boolean;
}

/** By the names of the interface; what is within an object, by both names. In the order in which they are shown. */
const lines: Record<string, Line> = {
  failing: { label: "Why it fails", help: "The error with which records could not be read.", show: String, bad: Boolean, quiet: true },
  readOnly: { label: "Why it takes no changes", help: "The error with which the disk refused.", show: String, bad: Boolean, quiet: true },
  started: { label: "Started", help: "When this process began to serve.", show: (v: string) => <Time at={v} /> },
  damaged: {
    label: "Damaged files",
    help: "Known to be damaged or missing, counted up to 1000. Run check for their names, then repair from a backup.",
    show: (n: number) => (n ? plural(n, "file") : "none known"),
    bad: (n: number) => n > 0,
  },
  background: {
    label: "Failing in the background",
    help: "What goes on by itself and does not succeed now; it is tried again. The log says more.",
    show: (tasks: Record<string, string>) => {
      const failing = Object.entries(tasks);
      return failing.length ? failing.map(([task, why]) => <p key={task}>{`${task}: ${why}`}</p>) : "nothing";
    },
    bad: (tasks: Record<string, string>) => Object.keys(tasks).length > 0,
  },
  clockBehind: {
    label: "Clock",
    help: "Stamps never go back: while the clock is behind the last change, new ones are dated just after it. Set the clock right.",
    show: (ms: number) => (ms ? `${ms < 1000 ? `${ms} ms` : duration(ms / 1000)} behind the last change` : "not behind the last change"),
    bad: (ms: number) => ms > 60_000,
  },
  "scrub.begun": {
    label: "Reading all files",
    help: "To find damage before you need them. This is when the pass under way began.",
    show: (v: string) => (v ? <Time at={v} /> : "not begun"),
  },
  "scrub.checked": { label: "Files read in this pass", help: "Each is held against its SHA-256.", show: count },
  "scrub.found": {
    label: "Found damaged in this pass",
    help: "They are among the damaged files above, until they are repaired or uploaded again.",
    show: (n: number) => (n ? plural(n, "file") : "none"),
    bad: (n: number) => n > 0,
  },
  "scrub.passes": { label: "Passes so far", help: "How often all files have been read.", show: count },
  identity: { label: "Identity", help: "The same for this repository, its backups, and what is restored from them.", show: (v: string) => <code>{v}</code> },
  "epoch.id": { label: "Epoch", help: "A new one begins each time a backup is restored.", show: (v: string) => <code>{v}</code> },
  "epoch.base": {
    label: "Restored up to",
    help: "The last change in the backup with which the epoch began.",
    show: (v: string) => <Time at={v} />,
    quiet: true,
  },
  "epoch.began": { label: "Epoch began", help: "When the repository was made, or restored.", show: (v: string) => <Time at={v} /> },
  "held.files": { label: "Small files among the records", help: "They become files of their own a little later. Above 100 MB for an hour, see the log.", show: count },
  "held.bytes": { label: "Their bytes", help: "What they take there.", show: (n: number) => <Size bytes={n} />, bad: (n: number) => n > 100e6 },
};

/** Objects within are taken apart, but those that one line shows. */
function flat(detail: Record<string, unknown>, before = ""): [string, unknown][] {
  return Object.entries(detail).flatMap(([name, value]): [string, unknown][] => {
    const path = before + name;
    const object = value !== null && typeof value === "object" && !Array.isArray(value);
    return object && !lines[path] ? flat(value as Record<string, unknown>, `${path}.`) : [[path, value]];
  });
}

export function Told({ detail }: { detail: Record<string, unknown> }) {
  const values = new Map(flat(detail));
  const known = Object.entries(lines).filter(([path, { quiet }]) => values.has(path) && !(quiet && !values.get(path)));
  const others = [...values].filter(([path]) => !lines[path]);
  return (
    <ul class="told">
      {known.map(([path, { label, help, show, bad }]) => {
        const value = values.get(path);
        const alarming = bad?.(value) ?? false;
        return (
          <li key={path}>
            <span>{label}</span>
            <div>
              <div class={alarming ? "bad" : ""}>
                {alarming && <Icon name="warning" />}
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
