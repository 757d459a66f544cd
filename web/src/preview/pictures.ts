// Picture formats that browsers display without running anything. This module is independent of the
// page.

export const pictureTypes = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|apng)$/;

export const pictureExtensions = "png jpg jpeg gif webp avif bmp ico";

/** Generic types that programs send for any file; the extension is more specific. */
export const vague = /^(application\/(octet-stream|x-www-form-urlencoded|vnd\.ms-excel|x-download|force-download|binary)|binary\/octet-stream|text\/plain|)$/;

/** The media type for displaying a file as a picture; undefined if it is not a picture. */
export function pictureType({ mimetype, filename, name }: { mimetype: string; filename: string; name: string }): string | undefined {
  const type = mimetype.split(";", 1)[0]!.trim().toLowerCase();
  if (pictureTypes.test(type)) return type;
  if (!vague.test(type)) return undefined;
  const extension = [filename, name].map((n) => n.slice(n.lastIndexOf(".") + 1).toLowerCase()).find((e) => pictureExtensions.split(" ").includes(e));
  return extension && `image/${{ jpg: "jpeg", ico: "x-icon" }[extension] ?? extension}`;
}
