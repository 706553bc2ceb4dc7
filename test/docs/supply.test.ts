/** What is built from elsewhere: exact versions, and no script of a package runs on the machine that installs it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('what is built from elsewhere', () => {
  test('runs no script of its own when it is installed here', () => {
    expect(execFileSync('npm', ['config', 'get', 'ignore-scripts'], { cwd: root, encoding: 'utf8' }).trim()).toBe(
      'true',
    );
  });

  test('has one exact version: each package, and each image, whose tag does not move on with the next release', () => {
    const text = (name: string) => readFileSync(`${root}/${name}`, 'utf8');
    const { dependencies, devDependencies } = JSON.parse(text('package.json')) as Record<string, object>;
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+(-[\w.]+)?$/)]);
    const images = [...text('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image!);
    expect(images.length).toBeGreaterThan(0);
    for (const image of images) expect(image).toMatch(/:\d+\.\d+\.\d+-[\w-]+$|@sha256:[0-9a-f]{64}$/);
  });
});
