/** compose.live.yaml holds real money: what each of its services may do, and that it ends and returns as it must. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

type Live = Readonly<Record<string, unknown>> & {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
};
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const { services } = parse(textOf('compose.live.yaml'), { merge: true }) as {
  readonly services: Readonly<Record<'bot' | 'sentinel' | 'console', Live>>;
};
const names = Object.keys(services) as (keyof typeof services)[];

test('every service runs the image that the operator named, and there is none without a name', () => {
  expect(names).toEqual(['bot', 'sentinel', 'console']);
  for (const name of names) {
    expect(services[name].image).toMatch(/^\$\{PUNTAS_IMAGE:\?[^}]+\}$/);
    expect(services[name]).not.toHaveProperty('build');
  }
});

test('every service has a read-only root, no capability, bounds of memory, processors and processes, and returns', () => {
  for (const name of names)
    expect(services[name], name).toMatchObject({
      ...{ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] },
      ...{ pids_limit: 200, mem_limit: '512m', cpus: 1, ulimits: { nofile: 1024 } },
    });
  expect(names.map(name => services[name]['restart'])).toEqual(['on-failure', 'always', 'unless-stopped']);
  expect(services.bot['stop_grace_period']).toBe('90s');
});

test('secrets are files: no variable has one, and only the state can be written', () => {
  for (const name of names) {
    const { environment, volumes } = services[name];
    for (const [key, value] of Object.entries(environment))
      expect(`${key}=${value}`).toMatch(/^PUNTAS_API_(?:KEY|SECRET)_FILE=\/run\/secrets\/|^PUNTAS_COMMAND=/);
    expect(volumes.filter(volume => !volume.endsWith(':ro'))).toEqual(['state:/state']);
    expect(volumes).toContain(`./live/${name}:/run/secrets:ro`);
  }
});

test('every service has a health check: the bot that of the image, the others their own', () => {
  expect(services.bot).not.toHaveProperty('healthcheck');
  expect(textOf('Dockerfile')).toMatch(/^HEALTHCHECK /m);
  for (const name of ['sentinel', 'console'] as const)
    expect(services[name]['healthcheck']).toMatchObject({ test: ['CMD', 'node', '-e', expect.any(String)] });
});

test('no port is reached from another machine', () => {
  for (const name of names)
    for (const port of services[name].ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
});
