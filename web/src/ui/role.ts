import type { Role, User } from "../api";
import { privileges } from "../api";

/** What a visitor may do in a dataspace. The service decides anyway: this only spares him the refusal. */
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
