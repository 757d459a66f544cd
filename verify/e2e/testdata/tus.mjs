// Uploads a file with tus-js-client, and prints the URL of its resource: node tus.mjs MODULES ENDPOINT KEY SET FILE
// For a request link, KEY and SET are "", and the script prints null.
import { createReadStream, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";

const [modules, endpoint, key, setId, path] = process.argv.slice(2);
const { Upload } = createRequire(modules)("tus-js-client");

const upload = new Upload(createReadStream(path), {
  endpoint,
  headers: key ? { Authorization: key } : {},
  metadata: { ...(setId && { setId }), filename: basename(path), filetype: "application/x-instrument" },
  uploadSize: statSync(path).size,
  chunkSize: 1 << 20,
  retryDelays: Array(50).fill(20),
  onSuccess: ({ lastResponse }) => console.log(lastResponse.getHeader("Labshelf-Resource") ?? null),
  onError: (error) => {
    console.error(String(error));
    process.exitCode = 1;
  },
});
upload.start();
