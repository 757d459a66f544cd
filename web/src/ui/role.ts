import type { Role, User } from "../api";
import { dataspaces, privileges } from "../api";
import { asProblem } from "./load";

/** What a visitor may do in a dataspace. The service decides anyway: this only spares them the refusal. */
export interface May {
  write: boolean;
  manage: boolean;
  role: Role | "sysadmin" | "none";
}

export async function mayIn(dataspaceId: string, me: User, signal?: AbortSignal): Promise<May> {
  if (me.sysadmin) return { write: true, manage: true, role: "sysadmin" };
  const { items } = await privileges.list({ userId: "me", dataspaceId, state: "active" }).all(1, signal);
  const role = items[0]?.role;
  return { write: role === "editor" || role === "admin", manage: role === "admin", role: role ?? "none" };
}

/**
 * Whether a visitor may make dataspaces, which is for the service's configuration to say. No answer tells it, but who may not is refused
 * before it looks at what is sent: so nothing is sent, and nothing is made.
 */
export async function mayMake(me: User): Promise<boolean> {
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
