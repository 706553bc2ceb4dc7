/** What a law is tried on: a few seeds or recordings in `npm test`, all of them in `npm run test:long`, where the same file is run again. */
export const isMany = process.env['PUNTAS_TEST_MANY'] === 'true';

/** The first `count`, or all where there is time; the most telling ones come first. */
export const few = <T>(all: readonly T[], count: number): readonly T[] => (isMany ? all : all.slice(0, count));
