/** The output of `.ci/release.sh` can be published, and the tree cannot; both against a registry of this test. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

type Received = { readonly name: string; readonly versions: Readonly<Record<string, Record<string, unknown>>> };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'puntas-release-'));
const clone = join(dir, 'clone');
const received: Received[] = [];
const registry = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (part: string) => void (text += part));
  request.on('end', () => {
    if (request.method === 'PUT') received.push(JSON.parse(text) as Received);
    response.writeHead(request.method === 'PUT' ? 201 : 404, { 'content-type': 'application/json' }).end('{}');
  });
});
const git = (...args: readonly string[]): void => {
  const { status, stderr } = spawnSync('git', ['-C', clone, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
};
const commit = (): void => {
  git('add', '--all');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '--message', 'a');
};
/** Standard output and standard error together, and the exit code. */
const ran = (command: string, args: readonly string[], cwd: string): Promise<{ code: number | null; said: string }> =>
  new Promise(resolve => {
    const child = spawn(command, args, { cwd, env: { ...process.env, npm_config_update_notifier: 'false' } });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => void (said += text));
    child.on('close', code => resolve({ code, said }));
  });
const released = (...args: readonly string[]) => ran('bash', ['.ci/release.sh', ...args], clone);
const published = (what: readonly string[]) => {
  const { port } = registry.address() as AddressInfo;
  const there = [`--registry=http://127.0.0.1:${port}/`, `--//127.0.0.1:${port}/:_authToken=none`];
  return ran('npm', ['publish', ...what, '--ignore-scripts', ...there], clone);
};

beforeAll(async () => {
  await new Promise<void>(resolve => registry.listen(0, '127.0.0.1', resolve));
  mkdirSync(clone);
  // A small tree of the same form: the whole program is packed by .ci/package.sh.
  for (const path of ['package.json', '.npmrc', 'README.md', 'LICENSE', 'CHANGELOG.md', '.ci/release.sh', 'bin'])
    cpSync(join(ROOT, path), join(clone, path), { recursive: true });
  mkdirSync(join(clone, 'config/image'), { recursive: true });
  writeFileSync(join(clone, 'config/image/build.mjs'), '');
  cpSync(join(ROOT, 'config/image/packedLinks.mjs'), join(clone, 'config/image/packedLinks.mjs'));
  mkdirSync(join(clone, 'docs'));
  writeFileSync(join(clone, 'docs/upgrading.md'), 'No release has been published yet.\n');
  writeFileSync(join(clone, '.gitignore'), 'node_modules\n');
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  git('init', '--quiet');
  commit();
});
afterAll(() => {
  registry.close();
  rmSync(dir, { recursive: true, force: true });
});

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

describe('a release', () => {
  test('is refused for another tag, without its entry in the changelog, without a repository, and on a changed tree', async () => {
    const out = join(dir, 'refused');
    const refusal = async (...args: readonly string[]) => {
      const { code, said } = await released(out, ...args);
      expect(code).toBe(1);
      expect(readdirSync(out)).toEqual([]);
      return said;
    };
    expect(await refusal('v99.0.0', 'some/name')).toContain(`package.json has version ${version}`);
    const changelog = readFileSync(join(clone, 'CHANGELOG.md'), 'utf8').replaceAll(`## [${version}]`, '## [old]');
    writeFileSync(join(clone, 'CHANGELOG.md'), changelog);
    commit();
    expect(await refusal(`v${version}`, 'some/name')).toContain(`no entry "## [${version}] - DATE"`);
    writeFileSync(join(clone, 'CHANGELOG.md'), `${changelog}\n## [${version}] - 2026-12-01\n`);
    expect(await refusal(`v${version}`, 'some/name')).toContain('docs/upgrading.md: remove');
    writeFileSync(join(clone, 'docs/upgrading.md'), 'Released.\n');
    expect(await refusal(`v${version}`, 'some/name')).toContain('not committed');
    commit();
    expect(await refusal(`v${version}`, 'no name')).toContain('expected OWNER/NAME');
    expect(await refusal(`v${version}`)).toContain('expected OWNER/NAME');
  });

  test('is a package that a registry receives, with the repository that its provenance names', async () => {
    const out = join(dir, 'out');
    expect(await released(out, `v${version}`, 'some/name')).toMatchObject({ code: 0 });
    expect(readdirSync(out)).toEqual([`puntas-${version}.tgz`]);
    expect((await published([join(out, `puntas-${version}.tgz`)])).code).toBe(0);
    expect(received).toHaveLength(1);
    const { name, versions } = received[0]!;
    expect(name).toBe('puntas');
    expect(versions[version]).toMatchObject({
      repository: { type: 'git', url: 'git+https://github.com/some/name.git' },
      bin: { puntas: 'bin/puntas.mjs' },
    });
    expect(versions[version]).not.toHaveProperty('private');
    const readme = execFileSync('tar', ['-xzOf', join(out, `puntas-${version}.tgz`), 'package/README.md'], {
      encoding: 'utf8',
    });
    expect(readme).toContain(`](https://github.com/some/name/blob/v${version}/CONTRIBUTING.md)`);
  });

  test('is never made by npm publish in the tree: npm refuses, and the registry receives nothing', async () => {
    received.length = 0;
    const { code, said } = await published([]);
    expect(code).not.toBe(0);
    expect(said).toContain('EPRIVATE');
    expect(received).toEqual([]);
  });
});
