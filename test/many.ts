import { test } from 'vitest';
/** What a law is tried on: a few seeds or recordings in `npm test`, all of them in `npm run test:long`, where the same file is run again. */
export const isMany = process.env['PUNTAS_TEST_MANY'] === 'true';

/** The first `count`, or all where there is time; the most telling ones come first. */
export const few = <T>(all: readonly T[], count: number): readonly T[] => (isMany ? all : all.slice(0, count));

/** Runs of a property: `count` where there is time. */
export const runsOf = (count: number, fewer: number): { readonly numRuns: number } => ({
  numRuns: isMany ? count : fewer,
});

/** A length or a step of a test: `all` where there is time. */
export const sized = (all: number, fewer: number): number => (isMany ? all : fewer);

/** A test that is not worth its seconds in `npm test`. */
export const testInMany: (name: string, body: () => Promise<void>) => void = isMany ? test : () => undefined;
