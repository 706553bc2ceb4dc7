/** One lost request of a start, whichever it is and at whichever exchange, does not keep the bot from quoting. */
import { expect, test } from 'vitest';
import type { WireRequest } from '../../../src/core/index.ts';
import { few } from '../../many.ts';
import type { Fate } from '../inProcess.ts';
import { started, worldOf } from '../world.ts';

const isPlacement = ({ method, target }: WireRequest): boolean => method === 'POST' && /\/orders\b/.test(target);

/** Starts a bot whose request number `lost` gets no answer; returns the requests before its first quote. */
async function startWith(lost: number | null) {
  const world = worldOf(11, {}, 'elsewhere');
  const sent: string[] = [];
  let hasQuoted = false;
  const fateOf = (request: WireRequest): Fate => {
    hasQuoted ||= isPlacement(request);
    if (!hasQuoted) sent.push(`${request.method} ${request.target.split('?')[0]!}`);
    return !hasQuoted && sent.length - 1 === lost ? 'lost' : 'arrives';
  };
  try {
    const run = await started(world, { fate: fateOf, fateThere: fateOf });
    await world.clock.advance(20_000);
    const { failure, summary } = await run.stop();
    return { sent, hasQuoted, failure, halted: summary.halted };
  } finally {
    world.end();
  }
}

const { sent } = await startWith(null);
const numbers = sent.map((request, n) => [n, request] as const);
/** One of each kind of read on which a start waits; the run repeats the others. */
const kinds = ['/fees', '/commission', '/balance', '/user_trades'].flatMap(end => {
  const found = numbers.find(([, request]) => request.endsWith(end));
  return found === undefined ? [] : [found];
});

test('a start has many requests, at both exchanges', () => {
  expect([numbers.length > 8, kinds.length]).toEqual([true, 4]);
});

test.each(few([...kinds, ...numbers], kinds.length))('request %i of a start (%s) is lost: the bot quotes', async n => {
  expect(await startWith(n)).toMatchObject({ hasQuoted: true, failure: null, halted: undefined });
});
