/** Values of a field that the documents do not allow. */
export const STRANGE: readonly (readonly [name: string, value: unknown])[] = [
  // `undefined` leaves it out.
  ['absent', undefined],
  ['null', null],
  ['empty', ''],
  ['a number', 17.5],
  ['a boolean', true],
  ['an object', { deep: 1 }],
  ['a list', ['x']],
  ['huge', '9'.repeat(45)],
  ['with an exponent', '1e5'],
  ['an unknown word', 'brand-new word'],
];
