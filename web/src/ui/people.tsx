// Names of users by their ids. Each is asked for once; what changes meanwhile is seen at the next visit.
import type { User } from "../api";
import { users } from "../api";
import { useLoad } from "./load";
import { Once } from "./once";

const known = new Once(users.get);

/** A user, as soon as it is known. */
export const useUser = (id: string): User | undefined => useLoad(() => known.get(id), [id]).value;

/** The name of a user. A user that may not be looked up is shown by the id. */
export function Who({ id }: { id: string }) {
  const found = useUser(id);
  return <span title={id}>{found ? found.fullname || found.username : id}</span>;
}
