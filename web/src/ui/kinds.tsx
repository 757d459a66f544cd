// The kind of a file as a picture: a symbol by its extension or type, or a thumbnail in a list.
import { useEffect, useState } from "preact/hooks";
import type { Resource } from "../api";
import { dataAddress } from "../api";
import { pictureType, pictureTypes } from "../preview/pictures";

interface Kind {
  /** Drawn like the icons in icons.tsx. */
  path: string;
  extensions: string;
  /** Type prefixes, if the extension is unknown. */
  types: string[];
}

const page = "M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3";

const kinds = {
  picture: { path: "M1.5 2.5h13v11h-13zM1.5 11l3.5-4 3 3.5 2-2 4.5 4M10.5 6.5a1 1 0 1 0 0-2 1 1 0 0 0 0 2z", extensions: "png jpg jpeg gif webp avif bmp apng tif tiff svg ico heic psd eps jp2 czi lif nd2 lsm dcm dm3 dm4 mrc ndpi svs", types: ["image/"] },
  film: { path: "M1.5 3h13v10h-13zM4.5 3v10M11.5 3v10M1.5 6.5h3M1.5 9.5h3M11.5 6.5h3M11.5 9.5h3", extensions: "mp4 m4v mov avi mkv webm mpg mpeg ogv wmv", types: ["video/"] },
  sound: { path: "M2 6v4h2.5l4 3.5v-11L4.5 6zM11 5.5a3.5 3.5 0 0 1 0 5M12.5 3.5a6.5 6.5 0 0 1 0 9", extensions: "wav mp3 flac ogg oga opus m4a aac aif aiff", types: ["audio/"] },
  table: { path: "M1.5 2.5h13v11h-13zM1.5 6h13M1.5 9.7h13M6 2.5v11", extensions: "csv tsv xlsx xls ods parquet arrow feather dta sav xpt", types: ["text/csv", "text/tab-separated-values", "application/vnd.ms-excel", "application/vnd.apache"] },
  plot: { path: "M2 2v12h12M4 11l3-4 2.5 2 4-5.5", extensions: "dat xvg xy asc jdx dx jcamp spc spe xrdml cdf-ms mzml mzxml raw", types: [] },
  data: { path: "M8 5.5c3 0 5-.8 5-2s-2-2-5-2-5 .8-5 2 2 2 5 2zM3 3.5v9c0 1.2 2 2 5 2s5-.8 5-2v-9M3 8c0 1.2 2 2 5 2s5-.8 5-2", extensions: "h5 hdf5 hdf nc nc4 cdf mat npy npz fits fit fts zarr sqlite sqlite3 db root pkl rds rdata", types: ["application/x-hdf", "application/x-netcdf", "application/fits", "application/x-npy", "application/x-matlab", "application/vnd.sqlite3"] },
  molecule: { path: "M4 6.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM12 7.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM6 4.8l4 .5M4.7 6.4l1.6 3.8M11 7.3l-2.8 3.2", extensions: "pdb ent cif mmcif mol mol2 sdf xyz gro", types: ["chemical/"] },
  solid: { path: "M8 1.5 14 5v6.5L8 14.5l-6-3V5zM2 5l6 3 6-3M8 8v6.5", extensions: "stl ply obj 3mf gltf glb step stp iges igs vtk vtu", types: ["model/"] },
  sequence: { path: "M4.5 1.5c0 4 7 3 7 6.5s-7 2.5-7 6.5M11.5 1.5c0 4-7 3-7 6.5s7 2.5 7 6.5M5.5 4h5M5.5 12h5", extensions: "fasta fa fna faa fastq fq vcf bcf sam bam cram gff gff3 gtf bed gb gbk embl nwk", types: ["text/x-fast"] },
  code: { path: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5M9 3 7 13", extensions: "py ipynb r jl m c h cpp cc hpp cxx rs go java js mjs ts tsx jsx sh bash ps1 sql html htm css f f90 for pl rb php lua scala kt swift cs nim tcl v vhd ino json jsonl jsonld geojson xml yaml yml toml ini cfg conf", types: ["text/x-", "application/json", "application/xml", "text/html", "text/css", "text/javascript", "application/yaml", "application/toml"] },
  archive: { path: "M2 5.5h12v9H2zM1.5 2h13v3.5h-13zM6.5 8.5h3", extensions: "zip tar gz tgz bz2 xz zst 7z rar iso", types: ["application/zip", "application/x-tar", "application/gzip", "application/x-7z", "application/x-rar", "application/x-xz", "application/x-bzip"] },
  document: { path: `${page}M6 8h4M6 10.5h4`, extensions: "pdf doc docx odt rtf txt md rst tex bib log ppt pptx odp epub", types: ["application/pdf", "text/plain", "text/markdown", "application/msword", "application/vnd.openxmlformats-officedocument", "application/vnd.oasis"] },
} satisfies Record<string, Kind>;

const byExtension = new Map<string, string>(Object.values(kinds).flatMap(({ path, extensions }) => extensions.split(" ").map((extension) => [extension, path] as const)));

function symbolOf({ name, mimetype }: Pick<Resource, "name" | "mimetype">): string {
  const extension = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
  return byExtension.get(extension) ?? Object.values(kinds).find(({ types }) => types.some((type) => mimetype.startsWith(type)))?.path ?? page;
}

/** The symbol of the kind of a file. */
export function KindIcon({ file }: { file: Pick<Resource, "name" | "mimetype"> }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={symbolOf(file)} />
    </svg>
  );
}

/** The maximum size of pictures that are loaded as their own thumbnail, in bytes. */
const largestPicture = 4e6;

/** The address of a picture. If its recorded type is a picture type, the address is the same as
    on its page, so that it is transferred once. For other types the service detects the type
    from the bytes. */
export const pictureAddress = (r: Resource) => dataAddress(r, !pictureTypes.test(r.mimetype.split(";", 1)[0]!.trim().toLowerCase()));

/** Formats that browsers show. SVG can contain scripts, and icons are not lab pictures. */
export const hasThumbnail = (r: Resource) => /^image\/(?!x-icon|vnd)/.test(pictureType(r) ?? "") && r.bytes <= largestPicture && !r.damaged && r.state === "active";

/** The number of thumbnails loaded at a time: browsers make six connections to a service. */
const atOnce = 2;

/** The delay before the picture of a row is loaded, in ms: rows that are scrolled past are not
    loaded. */
const pause = 150;

let loading = 0;
const waiting: (() => void)[] = [];

/** Waits for a free slot. Returns a function that releases it. */
async function slot(): Promise<() => void> {
  if (loading >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  loading++;
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    loading--;
    waiting.shift()?.();
  };
}

/** The symbol of a file in a list, or its thumbnail if it is a picture. */
export function RowIcon({ file }: { file: Resource }) {
  const [state, setState] = useState<"symbol" | "loading" | "shown">("symbol");
  const [end, setEnd] = useState<() => void>();
  const shows = hasThumbnail(file);
  useEffect(() => {
    if (!shows) return;
    let left = false;
    let release = () => {};
    const due = setTimeout(async () => {
      release = await slot();
      if (left) return release();
      setEnd(() => release);
      setState("loading");
    }, pause);
    return () => {
      left = true;
      clearTimeout(due);
      release();
      setState("symbol");
    };
  }, [file.id, file.sha256, shows]);
  if (state === "symbol") return <KindIcon file={file} />;
  const done = (to: "symbol" | "shown") => () => {
    setState(to);
    end?.();
  };
  return <img class="thumbnail" src={pictureAddress(file)} alt="" decoding="async" onLoad={done("shown")} onError={done("symbol")} />;
}
