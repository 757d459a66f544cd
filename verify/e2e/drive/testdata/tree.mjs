// Makes the folder "tree" of the drive equal to a local folder, and downloads it: tree.mjs URL KEY TREE OUT MODULES.
import { readdirSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

const [url, key, tree, out, modules] = process.argv.slice(2);
const { createClient, AuthType } = await import(pathToFileURL(createRequire(modules).resolve('webdav')).href);
const drive = createClient(url, { authType: AuthType.Password, username: 'anybody', password: key });

const all = async () => (await drive.getDirectoryContents('/tree', { deep: false }).then(walk));

async function walk(entries) {
  let found = [];
  for (const entry of entries) {
    found.push(entry);
    if (entry.type === 'directory') {
      found = found.concat(await walk(await drive.getDirectoryContents(entry.filename)));
    }
  }
  return found;
}

if (!(await drive.exists('/tree'))) await drive.createDirectory('/tree');
const known = new Map((await all()).map((entry) => [entry.filename, entry]));
const wanted = new Set();
async function put(folder, at) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = at + '/' + entry.name;
    wanted.add(path);
    if (entry.isDirectory()) {
      if (!known.has(path)) await drive.createDirectory(path);
      await put(join(folder, entry.name), path);
    } else {
      await drive.putFileContents(path, readFileSync(join(folder, entry.name)), { overwrite: true });
    }
  }
}
await put(tree, '/tree');
for (const path of known.keys()) if (!wanted.has(path)) await drive.deleteFile(path);
mkdirSync(out);
for (const entry of await all()) {
  const to = join(out, relative('/tree', entry.filename));
  if (entry.type === 'directory') mkdirSync(to);
  else writeFileSync(to, await drive.getFileContents(entry.filename));
}
