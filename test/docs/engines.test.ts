/** Packages of the program accept every Node that the program accepts, so that an installation warns of none. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

type Entry = { readonly dev?: boolean; readonly engines?: { readonly node?: string } };

const textOf = (name: string): string => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), 'utf8');
const { engines, overrides, dependencies } = JSON.parse(textOf('package.json')) as {
  readonly engines: { readonly node: string };
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
};
const { packages } = JSON.parse(textOf('package-lock.json')) as { readonly packages: Readonly<Record<string, Entry>> };

const numbersOf = (version: string): readonly number[] => [0, 1, 2].map(i => Number(version.split('.')[i] ?? 0));
const isBelow = (one: readonly number[], other: readonly number[]): boolean => {
  const i = one.findIndex((n, at) => n !== other[at]);
  return i >= 0 && one[i]! < other[i]!;
};
/** Whether one of the ranges `a || b` has the version; a range is *, a number, >=, ^, or both with a space between. */
function accepts(range: string, version: string): boolean {
  const found = numbersOf(version);
  return range.split('||').some(part =>
    [...part.trim().matchAll(/(\^|~|>=|>|<=|<|)\s*v?(\*|\d+(?:\.[\dx]+)*)/g)].every(([, sign, text]) => {
      if (text === '*') return true;
      const bound = numbersOf(text!.replaceAll('x', '0'));
      if (sign === '>=') return !isBelow(found, bound);
      if (sign === '<') return isBelow(found, bound);
      if (sign === '^' || sign === '') return found[0] === bound[0] && !isBelow(found, bound);
      throw new Error(`engines: unexpected range ${part}`);
    }),
  );
}

/** Oldest supported version of each supported major. */
const OLDEST = [...engines.node.matchAll(/\d+\.\d+\.\d+/g)].map(([version]) => version);

describe('the engines of the packages', () => {
  test('of the program accept the oldest Node of every supported major', () => {
    expect(OLDEST).toEqual(['20.19.0', '22.12.0', '24.0.0']);
    const own = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
    expect(own.length).toBeGreaterThan(60);
    const refused = own.flatMap(([path, entry]) =>
      OLDEST.filter(version => !accepts(entry.engines?.node ?? '*', version)).map(version => `${path}: ${version}`),
    );
    expect(refused).toEqual([]);
  });

  test('hold where the package is installed: npm ignores overrides there, so only those of optional packages remain', () => {
    expect(Object.keys(overrides)).toEqual(['msgpackr-extract']);
    // The newer one needs a cookie package for Node 22.
    expect(dependencies['light-my-request']).toBe('6.6.0');
  });

  test('are read: a range that needs a newer Node refuses the old one', () => {
    for (const [range, isThere] of [
      ['>=22', false],
      ['^22.12.0 || >=24.0.0', false],
      ['>=20.19.1', false],
      ['>= 20.0.0 <20.19.0', false],
      ['>=18', true],
      ['^20.19.0 || >=22', true],
      ['*', true],
    ] as const)
      expect([range, accepts(range, '20.19.0')]).toEqual([range, isThere]);
  });
});
