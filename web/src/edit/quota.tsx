// The quota of a dataspace or a user, which sysadmins set.
import { DecimalInput, typedNumber } from "../ui/decimal";
import { Field } from "../ui/form";
import type { Calls } from "./save";

/** Bytes of the unit in which quotas are entered. */
const GB = 1e9;

/** A record with its quota as text in GB, as forms need it; "" means no limit. */
export type Flat<T> = Omit<T, "quota"> & { quota: string };

export const flat = <T extends { quota?: number }>({ quota, ...record }: T) => ({ ...record, quota: quota ? String(quota / GB) : "" }) as Flat<T>;

/** The inverse of `flat`, also for a subset of the fields. */
export const withQuota = <T extends { quota?: number }>({ quota, ...fields }: Partial<Flat<T>>) =>
  ({ ...fields, ...(quota !== undefined && { quota: String(quota).trim() ? Math.round(typedNumber(String(quota)) * GB) : 0 }) }) as unknown as T;

/** The requests for records whose forms have a quota. */
export const flatCalls = <T extends { quota?: number }>({ get, edit }: Calls<T>): Calls<Flat<T>> => ({
  get: async (id) => flat(await get(id)),
  edit: async (of, fields) => flat(await edit(of, withQuota<T>(fields))),
});

export function QuotaField({ was, error }: { was: string; error: string | undefined }) {
  return (
    <Field
      label="Quota in GB"
      hint="All versions of all files count; deleted files count until a purge. Empty: no limit. A quota below the current usage removes nothing but blocks uploads."
      error={error}
    >
      {(a) => <DecimalInput name="quota" min={0} defaultValue={was} {...a} />}
    </Field>
  );
}
