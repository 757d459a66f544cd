// The pictures that browsers show, and that run nothing. This module is independent of the page.

export const pictureTypes = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|apng)$/;

export const pictureExtensions = "png jpg jpeg gif webp avif bmp ico";

/** Types that programs send for any file: of one of these the extension says more. */
export const vague = /^(application\/(octet-stream|x-www-form-urlencoded|vnd\.ms-excel|x-download|force-download|binary)|binary\/octet-stream|text\/plain|)$/;

/** The media type as which a file is shown as a picture; undefined if it is none. */
export function pictureType({ mimetype, filename, name }: { mimetype: string; filename: string; name: string }): string | undefined {
  const type = mimetype.split(";", 1)[0]!.trim().toLowerCase();
  if (pictureTypes.test(type)) return type;
  if (!vague.test(type)) return undefined;
  const extension = [filename, name].map((n) => n.slice(n.lastIndexOf(".") + 1).toLowerCase()).find((e) => pictureExtensions.split(" ").includes(e));
  return extension && `image/${{ jpg: "jpeg", ico: "x-icon" }[extension] ?? extension}`;
}
