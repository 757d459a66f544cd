import type { Role } from "../api";
import { privileges } from "../api";
import { useMe } from "../session";
import { useLoad } from "./load";

/** What the visitor may do in a dataspace. Undefined until it is known; then nothing is offered that would be refused. */
export interface May {
  write: boolean;
  manage: boolean;
  role: Role | "sysadmin" | "none";
}

/** What the visitor may do in a dataspace; "" is none. The service decides anyway: this only spares him the refusal. */
export function useMay(dataspaceId: string | undefined): May | undefined {
  const me = useMe();
  const { value } = useLoad(
    async (signal) => (dataspaceId && !me.sysadmin ? privileges.list({ userId: "me", dataspaceId }).all(1, signal) : []),
    [dataspaceId, me.id],
  );
  if (me.sysadmin) return { write: true, manage: true, role: "sysadmin" };
  if (!value || !dataspaceId) return undefined;
  const role = value.find((p) => p.state === "active")?.role;
  return { write: role === "editor" || role === "admin", manage: role === "admin", role: role ?? "none" };
}
