// Reads pairs of a schema and a value, one a line, and prints a line for each: true or false as the value is valid, or what went wrong. The
// argument is a package.json whose node_modules has ajv and ajv-formats.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(process.argv[2]);
const ajv = new (require('ajv/dist/2020').default)({ strict: false, logger: false });
require('ajv-formats').default(ajv);

for await (const line of createInterface({ input: process.stdin })) {
  const { schema, value } = JSON.parse(line);
  let verdict;
  try {
    verdict = ajv.validate(schema, value);
  } catch (e) {
    verdict = String(e).slice(0, 200);
  }
  ajv.removeSchema(schema);
  console.log(JSON.stringify(verdict));
}
