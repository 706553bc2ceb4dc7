/** Fees of another exchange in a replay, rebates too: each fill costs exactly its share, and the parts of profit add up. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Fees } from '../../backtest/index.ts';
import { backtest, withVenueFees } from '../../backtest/app/backtest/backtest.ts';
import { readShipped } from '../../src/wiring/configFile.ts';
import { loadConfig } from '../../src/config.ts';
import { amount, instrumentOf, moneyOf, price } from '../../src/core/index.ts';
import { RULES } from '../tape/storedRows.ts';
import { NO_PROGRESS } from '../app/noProgress.ts';

const rate = fc.integer({ min: -1_000_000, max: 1_000_000 });
const textOf = (units: number): string => `${units < 0 ? '-' : ''}0.${String(Math.abs(units)).padStart(8, '0')}`;

describe('the fee of a fill', () => {
  const instrument = instrumentOf(RULES);

  test('is its rate of what is received, half up at eight decimals, and below zero for a rebate', () => {
    fc.assert(
      fc.property(
        rate,
        rate,
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.integer({ min: 1, max: 1_000_000_000 }),
        (maker, taker, takes, buys, ticks, lots) => {
          const fees = new Fees(instrument, {
            tiers: [{ volume: '1', maker: textOf(maker), taker: textOf(taker) }],
            volume30d: '0',
          });
          const { major, minor, fee } = fees.fill(buys ? 'buy' : 'sell', price(ticks), amount(lots), takes);
          // Twice the fee in units of 10^-16 of what is received, compared with twice the exact one.
          const exact = (buys ? major : minor) * BigInt(takes ? taker : maker);
          const error = 2n * (fee * 10n ** 8n - exact);
          const unit = 10n ** 18n;
          expect(fee % 10n ** 10n).toBe(0n);
          expect(error > -unit && error <= unit).toBe(true);
        },
      ),
    );
  });
});

describe('a backtest at the fees of another exchange', () => {
  const constant = (ms: number) => ({ kind: 'constant', ms }) as const;
  const ran = async (fees: { readonly maker: string; readonly taker: string }) => {
    const { models } = await backtest({
      config: withVenueFees(readShipped('sandbox'), fees),
      ...{ configText: '', version: '', tape: null, seed: 3, flowSeconds: 1_800, flowDrift: 0, models: ['expected'] },
      latencies: { orders: constant(25), cancels: constant(25), answers: constant(25), feed: constant(0) },
      latencyText: { latencyMs: '25', feedLatencyMs: '0' },
      ...{ threads: 1, files: null, progress: NO_PROGRESS },
    });
    const [main] = models;
    if (main === undefined) throw new Error('no model ran');
    return main;
  };

  it('charges what is stated, and pays a rebate', async () => {
    for (const [maker, bps] of [
      ['-0.0001', -1],
      ['0', 0],
      ['0.0002', 2],
    ] as const) {
      const { fills, pnl, volume } = await ran({ maker, taker: '0.0005' });
      expect(fills).toBeGreaterThan(0);
      // Fees of buys are in coins, valued at the middle: near to their share of the volume.
      const paid = (-1e4 * Number(pnl.fees)) / Number(volume.minor);
      expect(Math.abs(paid - bps)).toBeLessThan(0.05);
      const parts = moneyOf(pnl.spread) + moneyOf(pnl.inventory) + moneyOf(pnl.fees) + moneyOf(pnl.hedging);
      expect(parts).toBe(moneyOf(pnl.total));
    }
  });

  it.each(['1', '-1.5', '1e-4', ''])('refuses a fee of %j in one line that names the key', fee => {
    const loaded = loadConfig(`book: btc_mxn\nbacktest: { fees: { maker: '${fee}', taker: '0' } }\n`, 'test.yaml');
    expect(loaded.ok).toBe(false);
    if (!loaded.ok)
      expect(loaded.errors.join('\n')).toMatch(/backtest\.fees\.maker: expected a fraction in quotation marks/);
  });
});
