// The resources that a document (Markdown, a notebook) needs: decoders for colours and formulas,
// and pictures of its set. They end with the document.
import type { ComponentChildren } from "preact";
import { createContext } from "preact";
import { useContext, useEffect, useMemo } from "preact/hooks";
import type { StoredFile } from "../api";
import { download, Problem, sets } from "../api";
import { pictureType } from "../preview/pictures";
import { Decoder } from "../sight/decoder";
import type { MathTree } from "../sight/mathml";

/** The limits of one document. */
const maxFormulas = 3000;
const maxPictures = 100;
const maxCode = 1000;

/** The maximum size of a picture in a document. */
const maxPicture = 16e6;

/** The maximum length of a block of code. */
const maxBlock = 100_000;

const tooMany = new Problem(-2, "too_many", "The limit of this document is reached.");

export class DocumentTools {
  private readonly decoders = new Map<string, Decoder>();
  private readonly addresses = new Map<string, Promise<string>>();
  private readonly control = new AbortController();
  private formulas = 0;
  private blocks = 0;

  constructor(readonly file: StoredFile) {}

  /** Classifies lines of code for colours. */
  async colours(language: string, text: string): Promise<Uint32Array> {
    if (text.length > maxBlock || ++this.blocks > maxCode) throw tooMany;
    return this.decoder("code").call("highlight", { language, text });
  }

  async formula(source: string, display: boolean): Promise<MathTree> {
    if (++this.formulas > maxFormulas) throw tooMany;
    return this.decoder("math").call("formula", { source, display });
  }

  /** The address of a picture of the set, which is loaded once. It rejects if the picture is
      missing or not displayable. */
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
    if (!found || !type || found.bytes > maxPicture) throw new Problem(404, "not_found", "This picture does not exist.");
    const blob = await download(found, signal);
    signal.throwIfAborted();
    return URL.createObjectURL(new Blob([blob], { type }));
  }

  /** A decoder that took too long stays ended, so that its calls fail immediately. */
  private decoder(name: string): Decoder {
    const decoder = this.decoders.get(name) ?? new Decoder(name, undefined, () => {});
    this.decoders.set(name, decoder);
    return decoder;
  }
}

const Context = createContext<DocumentTools | undefined>(undefined);

/** The tools of the surrounding document; undefined outside of one. */
export const useDocument = () => useContext(Context);

export function DocumentOf({ file, children }: { file: StoredFile; children: ComponentChildren }) {
  const tools = useMemo(() => new DocumentTools(file), [file.dataUrl, file.sha256]);
  useEffect(() => () => tools.close(), [tools]);
  return <Context.Provider value={tools}>{children}</Context.Provider>;
}
