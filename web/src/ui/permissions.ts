import type { Role, User } from "../api";
import { dataspaces, privileges } from "../api";
import { asProblem } from "./load";

/** The user's permissions in a dataspace. They only determine what the pages offer: the service
    checks every request. */
export interface Permissions {
  write: boolean;
  manage: boolean;
  role: Role | "sysadmin" | "none";
}

export async function permissionsIn(dataspaceId: string, me: User | undefined, signal?: AbortSignal): Promise<Permissions> {
  if (!me) return { write: false, manage: false, role: "none" };
  if (me.sysadmin) return { write: true, manage: true, role: "sysadmin" };
  const { items } = await privileges.list({ userId: "me", dataspaceId, state: "active" }).all(1, signal);
  const role = items[0]?.role;
  return { write: role === "editor" || role === "admin", manage: role === "admin", role: role ?? "none" };
}

/** Whether a user can create dataspaces, which the configuration of the service decides. No
    response contains it, but the service checks the permission before the fields: a request
    without a name is refused with 403 or 400, and creates nothing. */
export async function mayCreateDataspaces(me: User): Promise<boolean> {
  if (me.sysadmin) return true;
  try {
    await dataspaces.create({});
  } catch (thrown) {
    const { status } = asProblem(thrown);
    if (status === 403) return false;
    if (status !== 400) throw thrown;
  }
  return true;
}
