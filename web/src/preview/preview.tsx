// What a file looks like. Which kind of preview that is follows from one table; all but the choice itself is fetched when it is needed.
import type { ComponentChildren, ComponentType } from "preact";
import { Component } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Problem, Resource } from "../api";
import { Empty, Failed, Waiting } from "../ui/basics";
import { asProblem } from "../ui/load";

export type ViewerProps = { resource: Resource };
type Viewer = ComponentType<ViewerProps>;

interface Kind {
  name: string;
  /** Media types without parameters. */
  types: RegExp;
  /** Of the file name, where the type says little. */
  extensions: string;
  load: () => Promise<Viewer>;
}

const text = () => import("./text").then((m) => m.TextPreview);
const media = () => import("./media");

/** The first row that fits is taken. HTML and SVG are texts like others: neither may run here. */
const kinds: Kind[] = [
  { name: "notebook", types: /^application\/x-ipynb\+json$/, extensions: "ipynb", load: () => import("./notebook").then((m) => m.NotebookPreview) },
  { name: "table", types: /^text\/(csv|tab-separated-values)$/, extensions: "csv tsv tab psv", load: () => import("./table").then((m) => m.TablePreview) },
  { name: "markdown", types: /^text\/(x-)?markdown$/, extensions: "md markdown", load: () => import("./markdown").then((m) => m.MarkdownPreview) },
  { name: "json", types: /^application\/(json|[\w.-]+\+json)$/, extensions: "json geojson jsonld", load: () => import("./json").then((m) => m.JsonPreview) },
  { name: "text", types: /^image\/svg|^text\/(?!plain$)|[/+]xml$|^application\/(yaml|toml|sql|jsonl|x-sh|x-tex|n-quads|n-triples|javascript)$/, extensions: "svg html htm xhtml xml", load: text },
  { name: "image", types: /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|apng)$/, extensions: "png jpg jpeg gif webp avif bmp ico", load: () => import("./image").then((m) => m.ImagePreview) },
  { name: "pdf", types: /^application\/pdf$/, extensions: "", load: () => import("./pdf").then((m) => m.PdfPreview) },
  { name: "audio", types: /^audio\//, extensions: "", load: () => media().then((m) => m.AudioPreview) },
  { name: "video", types: /^video\//, extensions: "", load: () => media().then((m) => m.VideoPreview) },
  { name: "text", types: /^text\/plain$/, extensions: "py r jl m c h cpp go js ts java sh tex bib ini toml yaml yml cfg", load: text },
  { name: "bytes", types: /^/, extensions: "", load: () => import("./bytes").then((m) => m.BytesPreview) },
];

/** Types that the content of a file leaves open, or that the service may have guessed from it: there the extension knows more. */
const vague = /^(application\/(octet-stream|json)|text\/(plain|csv|tab-separated-values)|)$/;

function kindOf({ mimetype, filename, name }: Resource): Kind {
  const type = mimetype.split(";", 1)[0]!.trim().toLowerCase();
  if (vague.test(type)) {
    for (const extension of [filename, name].map((n) => /\.(\w+)$/.exec(n)?.[1]?.toLowerCase())) {
      const found = extension && kinds.find((k) => k.extensions.split(" ").includes(extension));
      if (found) return found;
    }
  }
  return kinds.find((k) => k.types.test(type))!;
}

/** What a file looks like, as far as a browser can show it. */
export function Preview({ resource }: ViewerProps) {
  const kind = kindOf(resource);
  const [loaded, setLoaded] = useState<{ kind: Kind; Viewer: Viewer } | undefined>();
  const [problem, setProblem] = useState<Problem | undefined>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    setProblem(undefined);
    kind.load().then((Viewer) => setLoaded({ kind, Viewer }), (thrown) => setProblem(asProblem(thrown)));
  }, [kind, turn]);
  const retry = () => setTurn((t) => t + 1);
  if (!resource.bytes) return <Empty icon="file" title="This file is empty" />;
  if (problem) return <Failed problem={problem} retry={retry} />;
  if (loaded?.kind !== kind) return <Waiting lines={10} />;
  return (
    <Guard key={`${kind.name}${turn}`} failed={(thrown) => <Failed problem={asProblem(thrown)} retry={retry} />}>
      <div class={`preview-${kind.name}`} data-preview={kind.name}>
        <loaded.Viewer resource={resource} />
      </div>
    </Guard>
  );
}

/** Keeps what goes wrong while a strange file is drawn from taking the page with it. */
class Guard extends Component<{ children: ComponentChildren; failed: (thrown: unknown) => ComponentChildren }, { thrown?: unknown }> {
  static override getDerivedStateFromError(thrown: unknown) {
    return { thrown };
  }
  override render() {
    return this.state.thrown === undefined ? this.props.children : this.props.failed(this.state.thrown);
  }
}
