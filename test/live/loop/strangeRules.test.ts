/** One row of the books' rules or of the fees made strange at a time: rules and rates of the bot's book are read as they are, or not at all, by name. */
import { describe, expect, test } from 'vitest';
import { CannotStart, NO_SUCH_BOOK, readRules } from '../../../src/live/loop/opening.ts';
import { json, scriptedClient } from '../../exchange/bitso/fakes.ts';
import { changed, leaves, REPLIES, valueAt } from '../../exchange/bitso/doorReplies.ts';
import { STRANGE } from '../../exchange/bitso/strange.ts';

const replyTo = (name: string): unknown => REPLIES.find(([of]) => of === name)![1];
const LISTS = [
  ['available_books', ['payload']],
  ['fees', ['payload', 'fees']],
] as const;

/** Result of the first reads with these answers. */
const read = (answers: Readonly<Record<string, unknown>>) =>
  readRules(
    scriptedClient(({ target }) => json(answers[target.includes('/fees') ? 'fees' : 'available_books'])).client,
    'btc_mxn',
  ).catch((error: unknown) => error);

let tried = 0;

describe.each(LISTS)('a row of %s', (name, at) => {
  const answers = Object.fromEntries(LISTS.map(([of]) => [of, replyTo(of)]));
  const rows = valueAt(answers[name], at) as readonly { readonly book: string }[];
  const strangely = (n: number, strange: unknown) =>
    leaves(rows[n]).map(field => ({ field, answer: changed(answers[name], [...at, n, ...field], strange) }));

  test.each(STRANGE)('of another book of which a field is %s changes nothing', async (_, strange) => {
    const good = await read(answers);
    expect(good).not.toBeInstanceOf(Error);
    const other = rows.findIndex(({ book }) => book === 'eth_mxn');
    for (const { field, answer } of strangely(other, strange)) {
      tried++;
      expect(await read({ ...answers, [name]: answer }), field.join('.')).toEqual(good);
    }
  });

  test.each(STRANGE)(
    'of the book of which a field is %s is read as it was, or not at all, by name',
    async (_, strange) => {
      const good = await read(answers);
      const own = rows.findIndex(({ book }) => book === 'btc_mxn');
      for (const { field, answer } of strangely(own, strange)) {
        tried++;
        const rules = await read({ ...answers, [name]: answer });
        if (!(rules instanceof CannotStart)) {
          // A tier too few, or a fee schedule that is not there, changes what the operator is told of tiers alone.
          expect({ ...(rules as object), tier: null }, field.join('.')).toEqual({ ...(good as object), tier: null });
          continue;
        }
        expect(rules.mayPass, field.join('.')).toBe(true);
        // A book that is listed and cannot be read is not one that is listed no more.
        expect(
          [rules.code === NO_SUCH_BOOK, field.some(part => rules.message.includes(String(part)))],
          rules.message,
        ).toEqual([false, true]);
      }
    },
  );
});

test('was tried with this many strange rows', () => {
  console.log(`strange rows of rules and fees: ${tried} tried`);
  expect(tried).toBeGreaterThan(400);
});
