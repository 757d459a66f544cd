// Groups and arrays of a file as a tree. One is shown with its attributes and values.
import { useMemo, useState } from "preact/hooks";
import type { StoredFile } from "../api";
import { plural } from "../format";
import { setQuery, useLocation } from "../router";
import { Button } from "../ui/components";
import { ArrayView } from "./array";
import { Attributes } from "./attributes";
import type { Decoder } from "./decoder";
import type { Content, Item } from "./messages";

interface Props {
  file: StoredFile;
  decoder: Decoder;
  content: Content & { view: "tree" };
}

/** The number of items of a group per step. */
const batch = 200;

/** All items in tree order, so that the address can refer to one by number. */
function flat(items: Item[], all: Item[] = []): Item[] {
  for (const item of items) {
    all.push(item);
    if (item.items) flat(item.items, all);
  }
  return all;
}

export function Tree({ file, decoder, content }: Props) {
  const { query } = useLocation();
  const all = useMemo(() => flat(content.items), [content]);
  const [local, setLocal] = useState("");
  const nested = file.content !== undefined; // the address belongs to the archive
  const given = nested ? local : query.get("item") ?? "";
  const found = given === "" ? -1 : Number(given);
  const chosen = all[found] ?? all.find((i) => i.id !== undefined && i.id === content.first) ?? all.find((i) => i.shape && !i.why && i.shape.every((n) => n > 0)) ?? all[0];
  const choose = (item: Item) => {
    const text = String(all.indexOf(item));
    setQuery({ ...(nested ? {} : { item: text }), view: "", slice: "", axes: "" });
    setLocal(text);
  };
  if (!chosen) return <p class="dim">{content.about}. It is empty.</p>;
  const alone = all.length === 1;
  return (
    <>
      <div class="preview-tools">
        <span class="dim">{content.about}</span>
      </div>
      <div class={`sides ${alone ? "" : "both"}`}>
        {!alone && (
          <div class="tree items" tabIndex={0} role="region" aria-label="Groups and arrays">
            <Items items={content.items} chosen={chosen} choose={choose} depth={0} />
          </div>
        )}
        <section class="side" aria-label="Group or array">
          <h2 class="preserve">{chosen.name}</h2>
          <p class="dim">{[chosen.title !== chosen.name && chosen.title, chosen.unit && `unit: ${chosen.unit}`, chosen.about].filter(Boolean).join(" · ")}</p>
          {chosen.why ? <p class="hint">{chosen.why}</p> : chosen.shape && <ArrayView key={chosen.id} decoder={decoder} item={chosen} items={all} name={`${file.name}: ${chosen.name}`} />}
          <Attributes key={all.indexOf(chosen)} attributes={chosen.attributes} />
        </section>
      </div>
      {content.attributes.length > 0 && (
        <>
          <h2>The file</h2>
          <Attributes attributes={content.attributes} />
        </>
      )}
    </>
  );
}

interface ItemsProps {
  items: Item[];
  chosen: Item;
  choose: (item: Item) => void;
  depth: number;
}

function Items({ items, chosen, choose, depth }: ItemsProps) {
  const [shown, setShown] = useState(batch);
  return (
    <>
      {items.slice(0, shown).map((item, i) =>
        item.items ? (
          <Group key={i} {...{ item, chosen, choose, depth }} />
        ) : (
          <div class="leaf" key={i}>
            <ItemButton {...{ item, chosen, choose }} />
          </div>
        ),
      )}
      {items.length > shown && (
        <Button kind="quiet" onClick={() => setShown(shown + 5 * batch)}>
          {plural(items.length - shown, "more name")}
        </Button>
      )}
    </>
  );
}

function ItemButton({ item, chosen, choose }: { item: Item; chosen: Item; choose: (item: Item) => void }) {
  return (
    <>
      <button type="button" class="link" aria-pressed={item === chosen} onClick={() => choose(item)}>
        {item.name}
      </button>{" "}
      <span class="dim">{item.about}</span>
    </>
  );
}

function Group({ item, chosen, choose, depth }: { item: Item; chosen: Item; choose: (item: Item) => void; depth: number }) {
  const [open, setOpen] = useState((depth < 2 && !item.folded) || flat(item.items!).includes(chosen));
  return (
    <div>
      <button type="button" class="link fold" aria-expanded={open} aria-label={`Content of ${item.name}`} onClick={() => setOpen(!open)}>
        {open ? "▾" : "▸"}
      </button>
      <ItemButton {...{ item, chosen, choose }} />
      {open && (
        <div class="inner">
          <Items items={item.items!} chosen={chosen} choose={choose} depth={depth + 1} />
        </div>
      )}
    </div>
  );
}
