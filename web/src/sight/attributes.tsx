// The attributes of a file or of a part of it.
import { useState } from "preact/hooks";
import { plural } from "../format";
import { Button } from "../ui/components";
import type { Attribute } from "./messages";

/** Limits: attributes per step, and displayed characters of one. */
const batch = 60;
const longest = 2000;

export function Attributes({ attributes }: { attributes: Attribute[] | undefined }) {
  const [shown, setShown] = useState(batch);
  if (!attributes?.length) return null;
  return (
    <details class="notes attributes" open={attributes.length <= 12}>
      <summary>{plural(attributes.length, "attribute")}</summary>
      <div class="wide" tabIndex={0} role="group" aria-label="Attributes">
        <table>
          <tbody>
            {attributes.slice(0, shown).map(([name, value], i) => (
              <tr key={i}>
                <th scope="row">{name}</th>
                <td>{value.length > longest ? `${value.slice(0, longest)}…` : value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {attributes.length > shown && (
        <Button kind="quiet" onClick={() => setShown(shown + 10 * batch)}>
          {plural(attributes.length - shown, "more attribute")}
        </Button>
      )}
    </details>
  );
}
