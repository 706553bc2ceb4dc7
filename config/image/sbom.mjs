/**
 * Prints a bill of materials (CycloneDX 1.5) of the packages that are installed here and used by the program: `npm run sbom`. It has no serial number and
 * no time, so that the same packages give the same bytes. `npm sbom --omit dev` leaves out what a tool of developers uses too (zod, yaml), and refuses an
 * installation without those tools.
 */
import { existsSync, readFileSync } from 'node:fs';

const at = path => new URL(`../../${path}`, import.meta.url);
const read = path => JSON.parse(readFileSync(at(path), 'utf8'));

const program = read('package.json');
const locked = Object.entries(read('package-lock.json').packages);
// Packages for other machines than this one are in the lockfile, and not installed.
const installed = Object.fromEntries(locked.filter(([path]) => path !== '' && existsSync(at(path))));

const nameAt = path => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const purl = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
const refAt = path => purl(nameAt(path), installed[path].version);
const own = purl(program.name, program.version);

/** Where Node finds a package that is imported at a path; undefined for one that is not installed. */
function found(name, from) {
  for (let above = from; ; above = above.slice(0, Math.max(0, above.lastIndexOf('/node_modules/')))) {
    const path = `${above === '' ? '' : `${above}/`}node_modules/${name}`;
    if (path in installed) return path;
    if (above === '') return undefined;
  }
}
const needed = (entry, from) =>
  Object.keys({ ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies })
    .map(name => found(name, from))
    .filter(path => path !== undefined);
const needs = (entry, from) => needed(entry, from).map(refAt);

/** Paths of the program's packages: its own and optional ones, and what these need. A set grows while it is walked. */
const reached = new Set(needed({ ...program, peerDependencies: {} }, ''));
for (const path of reached) for (const next of needed(installed[path], path)) reached.add(next);
const used = [...reached].sort();

const components = new Map();
const edges = new Map([[own, new Set(needs(program, ''))]]);
for (const path of used) {
  const { version, license, integrity } = installed[path];
  const [, sha512] = /^sha512-(\S+)/.exec(integrity);
  components.set(refAt(path), {
    type: 'library',
    'bom-ref': refAt(path),
    name: nameAt(path),
    version,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(sha512, 'base64').toString('hex') }],
    licenses: [license.includes(' ') ? { expression: license } : { license: { id: license } }],
    purl: refAt(path),
  });
  edges.set(refAt(path), new Set([...(edges.get(refAt(path)) ?? []), ...needs(installed[path], path)]));
}

const bill = {
  $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: {
    component: {
      type: 'application',
      'bom-ref': own,
      name: program.name,
      version: program.version,
      licenses: [{ license: { id: program.license } }],
      purl: own,
    },
  },
  components: [...components.keys()].sort().map(ref => components.get(ref)),
  dependencies: [...edges.keys()].sort().map(ref => ({ ref, dependsOn: [...edges.get(ref)].sort() })),
};
console.log(JSON.stringify(bill, null, 2));
