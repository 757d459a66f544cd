// Names of users by their ids. Each is requested once per document; later changes show after a reload.
import type { User } from "../api";
import { users } from "../api";
import { useSession } from "../session";
import { Cache } from "./cache";
import { useLoad } from "./load";

const cache = new Cache(users.get);

/** A user, once it is loaded. */
export const useUser = (id: string): User | undefined => useLoad(() => cache.get(id), [id]).value;

/** The name of a user; the id if the user is not visible. */
export function UserName({ id }: { id: string }) {
  return useSession().user ? <KnownUser id={id} /> : <>a user</>; // names are not public
}

function KnownUser({ id }: { id: string }) {
  const user = useUser(id);
  return <span title={id}>{user ? user.fullname || user.username : id}</span>;
}
