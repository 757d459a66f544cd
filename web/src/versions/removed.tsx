import type { Version } from "../api";
import { Time } from "../ui/components";
import { UserName } from "../ui/users";

/** The time and the rule of the removal of a version's file. */
export function Removed({ version: v }: { version: Version }) {
  return (
    <p>
      The file of version {v.version} was removed <Time at={v.removed!} />
      {v.removedBy && (
        <>
          {" "}
          by <UserName id={v.removedBy} />
        </>
      )}{" "}
      ({v.rule}). Its record stays.
    </p>
  );
}
