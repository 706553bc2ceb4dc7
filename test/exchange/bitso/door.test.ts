/** Every field of every reply at the door: figures that are none, times in each spelling, ids of 64 bits, fields that nobody knows. */
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/index.ts';
import { asking, changed, leaves, REPLIES, valueAt, type Call } from './doorReplies.ts';

const NO_FIGURES = [
  '1e5',
  '1E-8',
  '+1',
  '0x10',
  '0b1',
  'NaN',
  'Infinity',
  '1_000',
  '1,5',
  '.5',
  '5.',
  ' 1',
  '1 ',
  '1\n',
  '--1',
  '٣',
  '',
  1.5,
  true,
  {},
  [],
];
const FIGURE = /^-?\d+(\.\d+)?$/;

/** What a field may be instead; undefined leaves it out. */
function othersThan(value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [!value, undefined];
  if (typeof value === 'number') return [value + 1, undefined];
  const text = String(value);
  return [undefined, '7', `${text}7`, 'other', text.replace(/\d(?=\D*$)/, digit => String((Number(digit) + 1) % 10))];
}

const shown = (outcome: Outcome<unknown>): string =>
  JSON.stringify(outcome, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value instanceof Map ? [...(value as Map<string, unknown>)] : value,
  );

const DEPRECATED = 'deprecated (public facts 9.1)';
const IN_PERCENT = 'the same rate as its decimal';
/** What the client does not tell of a reply. */
const NOT_TOLD: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fees: {
    fee_percent: DEPRECATED,
    fee_decimal: DEPRECATED,
    nextVolume: DEPRECATED,
    nextFee: DEPRECATED,
    nextTakerFee: DEPRECATED,
    taker_fee_percent: IN_PERCENT,
    maker_fee_percent: IN_PERCENT,
    next_taker_fee_percent: 'no order of ours takes liquidity by default',
  },
};

/** How many things a reply was read as; 0 when it was not read. */
const countOf = (outcome: Outcome<unknown>): number =>
  outcome.kind !== 'done' ? 0 : Array.isArray(outcome.value) ? outcome.value.length : 1;

describe.each(REPLIES)('a reply to %s', (name, reply, call) => {
  it('is read as it is', async () => {
    expect(await asking(reply, call)).toMatchObject({ kind: 'done' });
  });

  it('with a figure that is none is never read as one', async () => {
    const good = countOf(await asking(reply, call));
    const figures = leaves(reply).filter(at => {
      const value = valueAt(reply, at);
      return typeof value === 'string' && FIGURE.test(value);
    });
    for (const path of figures) {
      const outcomeOf = async (value: unknown) => asking(changed(reply, path, value), call);
      // What the client keeps as it was sent, or does not read, is no figure to it.
      if (countOf(await outcomeOf('not a figure')) === good) continue;
      for (const none of NO_FIGURES) {
        const outcome = await outcomeOf(none);
        // A row that cannot be read is left out by name, and the others stay.
        expect(countOf(outcome), `${path.join('.')} = ${JSON.stringify(none)}`).toBeLessThan(good);
        if (countOf(outcome) === 0) expect(isWhole(outcome)).toBe(false);
      }
    }
  });

  it('means the same with every time in every spelling', async () => {
    const good = await asking(reply, call);
    for (const path of leaves(reply)) {
      const text = String(valueAt(reply, path));
      if (!/^\d{4}-\d\d-\d\dT/.test(text)) continue;
      const second = text.slice(0, 19);
      for (const spelled of [
        `${second}+0000`,
        `${second}+00:00`,
        `${second}.000+00:00`,
        `${second}.000+0000`,
        `${second}Z`,
        `${second}.000000000Z`,
      ])
        expect(await asking(changed(reply, path, spelled), call), `${path.join('.')} ${spelled}`).toEqual(good);
      for (const wrong of [
        second,
        second.replace('T', ' '),
        `${second}+00`,
        '2026-02-30T00:00:00Z',
        '1790000000000',
        1_790_000_000_000,
      ])
        expect(isWhole(await asking(changed(reply, path, wrong), call)), `${path.join('.')} ${wrong}`).toBe(false);
    }
  });

  it('means the same with fields that nobody knows', async () => {
    const grown = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(grown)
        : typeof value === 'object' && value !== null
          ? {
              ...Object.fromEntries(Object.entries(value).map(([name, each]) => [name, grown(each)])),
              brand_new: { deep: [1] },
            }
          : value;
    // In these, keys are names of currencies, hours or events: a new one is one more of them.
    const keyed = /withdrawal_fees|rolling_average_change|next_recurrent_events/;
    if (keyed.test(JSON.stringify(reply))) return;
    const [good, more] = [await asking(reply, call), await asking(grown(reply), call)];
    expect(more).toEqual(good);
  });

  it('is told whole: no field is dropped, but for those that are listed with their reason', async () => {
    const good = shown(await asking(reply, call));
    const dropped: string[] = [];
    for (const path of leaves(reply)) {
      const others = await Promise.all(
        othersThan(valueAt(reply, path)).map(value => asking(changed(reply, path, value), call)),
      );
      if (others.every(outcome => shown(outcome) === good)) dropped.push(String(path.at(-1)));
    }
    expect([...new Set(dropped)].sort()).toEqual(Object.keys(NOT_TOLD[name] ?? {}).sort());
    // In names and types of the client's own, not in a copy of what came.
    const names = [...good.matchAll(/"([^"]*)":/g)].map(([, key]) => key);
    expect(names.filter(key => !/^[a-z][A-Za-z0-9]*$/.test(key!))).toEqual([]);
  });
});

/** Whether an answer came and every row of it was read. */
const isWhole = (outcome: Outcome<unknown>): boolean => outcome.kind === 'done' && outcome.unreadable === undefined;

describe('an id of 64 bits', () => {
  const LARGE = '9223372036854775807';
  const reply = (name: string): string => JSON.stringify(REPLIES.find(([of]) => of === name)![1]);
  it.each<[string, RegExp, Call]>([
    ['order_book', /("sequence":)"\d+"/, c => c.orderBook('btc_mxn')],
    ['trades', /("tid":)\d+/, c => c.trades('btc_mxn')],
    ['user_trades', /("tid":)"\d+"/, c => c.userTrades()],
    ['conversion', /("id":)"\d+"/, c => c.conversion('x')],
  ])('in %s keeps every digit, as text and as number', async (name, where, call) => {
    for (const written of [LARGE, `"${LARGE}"`]) {
      const text = reply(name).replace(where, `$1${written}`);
      expect(text).toContain(written);
      const outcome = await asking(text, call);
      expect(outcome.kind).toBe('done');
      expect(
        JSON.stringify(outcome, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      ).toContain(`"${LARGE}"`);
    }
  });
});
