/** What is built from elsewhere: exact versions, no script of a package on the machine that installs it, and a bill of what is in it. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('what is built from elsewhere', () => {
  test('runs no script of its own when it is installed here', () => {
    expect(
      execFileSync('npm', ['config', 'get', 'ignore-scripts'], {
        cwd: root,
        encoding: 'utf8',
        timeout: 120_000,
      }).trim(),
    ).toBe('true');
  });

  test('runs none either where a check or the image installs something', () => {
    const scripts = readdirSync(`${root}/.ci`).map(name => readFileSync(`${root}/.ci/${name}`, 'utf8'));
    const installs = [...scripts, readFileSync(`${root}/Dockerfile`, 'utf8')].flatMap(
      text => text.match(/^(?!#).*\bnpm (?:install|prune)\b.*|^RUN npm ci.*/gm) ?? [],
    );
    expect(installs.length).toBeGreaterThan(4);
    for (const line of installs) expect(line).toContain('--ignore-scripts');
  });

  test('has one exact version: each package, and each image, whose tag does not move on with the next release', () => {
    const text = (name: string) => readFileSync(`${root}/${name}`, 'utf8');
    const { dependencies, devDependencies } = JSON.parse(text('package.json')) as Record<string, object>;
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([name, version]).toEqual([name, expect.stringMatching(/^(npm:[\w-]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/)]);
    const bases = [...text('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!);
    expect(bases).toEqual(['$NODE', '$NODE']);
    const images = [...text('compose.yaml').matchAll(/^ +image: (\S+)/gm)].flatMap(([, image]) =>
      image === 'puntas' ? [] : [image!],
    );
    expect(images).toHaveLength(3);
    for (const image of [/^ARG NODE=(\S+)$/m.exec(text('Dockerfile'))![1]!, ...images])
      expect(image).toMatch(/:v?\d+\.\d+\.\d+(-[\w-]+)?@sha256:[0-9a-f]{64}$/);
  });
});

type Bill = {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly hashes: readonly { readonly content: string }[];
    readonly licenses: readonly { readonly license: { readonly id: string } }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
};

describe('the bill of materials', () => {
  const made = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8', timeout: 120_000 });
  const bill = JSON.parse(made) as Bill;

  test('has what npm says is installed for the program, with the hash of the lockfile, and nothing of the developers', () => {
    const listed = execFileSync('npm', ['ls', '--omit=dev', '--all', '--parseable', '--long'], {
      ...{ cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    });
    const [own, ...installed] = listed.trim().split('\n');
    expect(own).toMatch(/:puntas@/);
    const names = new Set(installed.map(line => line.split(':')[1]!));
    expect(new Set(bill.components.map(({ name, version }) => `${name}@${version}`))).toEqual(names);
    const { packages } = JSON.parse(readFileSync(`${root}/package-lock.json`, 'utf8')) as {
      packages: Readonly<Record<string, { readonly version: string; readonly integrity?: string }>>;
    };
    for (const { name, version, hashes } of bill.components) {
      const [locked] = Object.entries(packages)
        .filter(([path, entry]) => path.endsWith(`node_modules/${name}`) && entry.version === version)
        .map(([, { integrity }]) => integrity);
      expect(`sha512-${Buffer.from(hashes[0]!.content, 'hex').toString('base64')}`).toBe(locked);
    }
  });

  test('names a licence of each that lets it be used, and knows whatever it says is needed', () => {
    const known = new Set(bill.components.map(({ purl }) => purl));
    for (const { licenses } of bill.components)
      expect(licenses[0]!.license.id).toMatch(/^(MIT|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD)$/);
    expect(bill.dependencies).toHaveLength(known.size + 1);
    const needed = new Set(bill.dependencies.flatMap(({ dependsOn }) => dependsOn));
    expect(needed).toEqual(known);
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as Record<
      string,
      object
    >;
    const own = bill.dependencies.find(({ ref }) => ref.startsWith('pkg:npm/puntas@'))!;
    expect(own.dependsOn).toHaveLength(Object.keys({ ...dependencies, ...optionalDependencies }).length);
  });

  test('is the same to the byte when it is made again: no time, no number of its own', () => {
    expect(
      execFileSync(process.execPath, [`${root}/config/image/sbom.mjs`], { encoding: 'utf8', timeout: 120_000 }),
    ).toBe(made);
    expect(bill).not.toHaveProperty('serialNumber');
    expect(bill).not.toHaveProperty('metadata.timestamp');
  });
});
