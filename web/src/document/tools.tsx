// What a document (Markdown, a notebook) needs to be shown: colours and formulas by decoders, and pictures of its set. It ends with the document.
import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext, useEffect, useMemo } from "preact/hooks";
import type { StoredFile } from "../api";
import { download, Problem, sets } from "../api";
import { pictureType } from "../preview/pictures";
import { Decoder } from "../sight/decoder";
import type { MathTree } from "../sight/mathml";

/** Of one document. */
const maxFormulas = 3000;
const maxPictures = 100;
const maxCode = 1000;

/** Bytes of a picture that is shown in a document. */
const maxPicture = 16e6;

/** Characters of a block of code. */
const maxBlock = 100_000;

const tooMany = new Problem(-2, "too_many", "This document has more of them than are shown.");

export class DocumentTools {
  private readonly decoders = new Map<string, Decoder>();
  private readonly addresses = new Map<string, Promise<string>>();
  private readonly control = new AbortController();
  private formulas = 0;
  private blocks = 0;

  constructor(readonly file: StoredFile) {}

  /** The lines of code have colours where this answers. */
  async colours(language: string, text: string): Promise<Uint32Array> {
    if (text.length > maxBlock || ++this.blocks > maxCode) throw tooMany;
    return this.decoder("code").call("highlight", { language, text });
  }

  async formula(source: string, display: boolean): Promise<MathTree> {
    if (++this.formulas > maxFormulas) throw tooMany;
    return this.decoder("math").call("formula", { source, display });
  }

  /** The address of a picture of the set, which is loaded once; it rejects where there is none that browsers show. */
  picture(name: string): Promise<string> {
    let found = this.addresses.get(name);
    if (!found) {
      found = this.addresses.size < maxPictures ? this.load(name) : Promise.reject(tooMany);
      this.addresses.set(name, found);
    }
    return found;
  }

  close() {
    this.control.abort();
    for (const decoder of this.decoders.values()) decoder.close();
    for (const address of this.addresses.values()) address.then(URL.revokeObjectURL, () => {});
  }

  private async load(name: string): Promise<string> {
    const { signal } = this.control;
    const listing = sets.resources(this.file.setId ?? "", { name, limit: 1 });
    const [found] = this.file.setId ? (await listing.page(listing.first, signal)).items : [];
    const type = found && pictureType(found);
    if (!found || !type || found.bytes > maxPicture) throw new Problem(404, "not_found", "There is no such picture.");
    const blob = await download(found, signal);
    signal.throwIfAborted();
    return URL.createObjectURL(new Blob([blob], { type }));
  }

  /** One that took too long stays ended, so that its calls fail at once. */
  private decoder(name: string): Decoder {
    const decoder = this.decoders.get(name) ?? new Decoder(name, undefined, () => {});
    this.decoders.set(name, decoder);
    return decoder;
  }
}

const Context = createContext<DocumentTools | undefined>(undefined);

/** The tools of the document around; undefined outside of one. */
export const useDocument = () => useContext(Context);

export function DocumentOf({ file, children }: { file: StoredFile; children: ComponentChildren }) {
  const tools = useMemo(() => new DocumentTools(file), [file.dataUrl, file.sha256]);
  useEffect(() => () => tools.close(), [tools]);
  return <Context.Provider value={tools}>{children}</Context.Provider>;
}
