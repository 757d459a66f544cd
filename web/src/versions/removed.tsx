import type { Version } from "../api";
import { Time } from "../ui/components";
import { UserName } from "../ui/users";

/** When the file of a version was removed, and by which rule. */
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
