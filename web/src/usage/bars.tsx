import { useState } from "preact/hooks";
import type { Counters, Dataspace } from "../api";
import { Link } from "../router";
import { Badge, Button } from "../ui/components";
import { Icon } from "../ui/icons";
import { isNearlyFull } from "./quota";
import type { Measure } from "./series";
import { active, deleted, described, old, short } from "./series";

/** The number of dataspaces shown initially. */
const shownAtFirst = 50;

interface Props {
  of: (Counters & { dataspaceId: string; quota?: number })[];
  titles: Map<string, Dataspace>;
  measure: Measure;
  /** The address of the usage page of a dataspace. */
  to: (did: string) => string;
}

/** The usage of all dataspaces, the largest first. */
export function Bars({ of, titles, measure, to }: Props) {
  const [all, setAll] = useState(false);
  const sum = (c: Counters) => active(c, measure) + deleted(c, measure) + old(c, measure);
  const sorted = [...of].sort((a, b) => sum(b) - sum(a));
  const most = Math.max(1, sum(sorted[0]!));
  return (
    <>
      <ul class="bars">
        {sorted.slice(0, all ? undefined : shownAtFirst).map((c) => {
          const d = titles.get(c.dataspaceId);
          const point = { active: active(c, measure), deleted: deleted(c, measure), old: old(c, measure) };
          const parts = described(point, measure);
          const percent = (n: number) => `${(100 * n) / most}%`;
          return (
            <li key={c.dataspaceId}>
              <span class="clip">
                <Link to={to(c.dataspaceId)} title="Its usage over time">
                  <Icon name="dataspace" /> {d ? d.title || d.name : c.dataspaceId}
                </Link>{" "}
                {d?.state === "deleted" && <Badge tone="bad">deleted</Badge>} {isNearlyFull({ used: c.activeBytes + c.deletedBytes + c.oldBytes, quota: c.quota }) && <Badge tone="bad">quota nearly used up</Badge>}
              </span>
              <svg class="stack" width="100%" height="14" aria-hidden="true">
                <rect class="active" width={percent(point.active)} height="14" />
                <rect class="deleted" x={percent(point.active)} width={percent(point.deleted)} height="14" />
                <rect class="old" x={percent(point.active + point.deleted)} width={percent(point.old)} height="14" />
              </svg>
              <span class="num end" title={parts}>
                {short(sum(c), measure)}
                <span class="visually-hidden">: {parts}</span>
              </span>
            </li>
          );
        })}
      </ul>
      {!all && sorted.length > shownAtFirst && <Button onClick={() => setAll(true)}>Show all {sorted.length}</Button>}
    </>
  );
}
