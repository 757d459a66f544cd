// Names of users by their ids. Each is asked for once; what changes meanwhile is seen at the next visit.
import type { User } from "../api";
import { users } from "../api";
import { useLoad } from "./load";

const known = new Map<string, Promise<User>>();

function user(id: string): Promise<User> {
  let found = known.get(id);
  if (!found) {
    found = users.get(id);
    known.set(id, found);
    found.catch(() => known.delete(id));
  }
  return found;
}

/** A user, as soon as he is known. */
export const useUser = (id: string): User | undefined => useLoad(() => user(id), [id]).value;

/** The name of a user. Who may not be looked up is shown by his id. */
export function Who({ id }: { id: string }) {
  const found = useUser(id);
  return <span title={id}>{found ? found.fullname || found.username : id}</span>;
}
