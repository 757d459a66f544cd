import type { Role } from "../api";

/** The roles in a dataspace, ascending, with what they allow. */
export const roles: readonly (readonly [Role, string])[] = [
  ["member", "reads"],
  ["editor", "reads, uploads files, changes and deletes them"],
  ["admin", "also manages the members"],
];

/** Chooses a role. */
export function RoleField({ role, choose }: { role: Role; choose: (role: Role) => void }) {
  return (
    <fieldset>
      <legend>Role</legend>
      {roles.map(([value, meaning]) => (
        <label key={value} class="option">
          <input type="radio" name="role" value={value} checked={role === value} onChange={() => choose(value)} />
          <span>
            <strong>{value}</strong> <span class="dim">{meaning}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
