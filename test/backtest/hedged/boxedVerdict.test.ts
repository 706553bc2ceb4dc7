/** Verdict on the two exchanges of the shipped configuration, recorded from their streams: that of its evidence. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isMany, sized } from '../../many.ts';
import { boxedBook, boxedConfig, LINKS } from './boxedMarkets.ts';
import { boxTapes } from './boxTapes.ts';

const PAGE = new URL('../../../docs/development/evidence/elsewhere.md', import.meta.url);
/** Hours of the evidence. A part of them decides at low fees only: it has few of the fills that carry high fees. */
const HOURS = sized(8, 2.25);

test('fills in the shipped box are worth their hedge, up to fees as in the evidence', async () => {
  const [, section = ''] = readFileSync(PAGE, 'utf8').split('\n## Two exchanges in a box\n');
  const row = /^\| the shipped .*$/m.exec(section)![0].split(' | ');
  const [shown, pays] = [row[3], Number.parseFloat(row[4]!)];
  const dir = mkdtempSync(join(tmpdir(), 'puntas-box-'));
  try {
    const config = boxedConfig(LINKS.shipped);
    const tapes = await boxTapes(config, 1, HOURS, dir);
    expect([tapes.quoted.gaps, tapes.hedge.gaps]).toEqual([[], []]);
    const { verdict, byFee, payingFeeBps, fees, curve, isPriceAlone } = boxedBook('here', config, tapes);
    expect(isPriceAlone).toBe(false);
    expect(fees).toEqual({ makerBps: 2, hedgeBps: 7.5, backBps: config.hedge!.elsewhere!.backBps });
    expect(byFee.find(({ feeBps }) => feeBps === 0)!.quote).toBe(true);
    expect(byFee.filter(({ feeBps, quote }) => quote && feeBps > 1.5 * pays)).toEqual([]);
    if (isMany) {
      expect(verdict.quote ? 'quote' : `do not: ${verdict.why}`).toBe(shown);
      expect(payingFeeBps).toBeCloseTo(pays, 0);
    } else expect(payingFeeBps).toBeGreaterThan(0);
    // Farther from the price, fewer fills are worth more.
    const judged = curve.filter(({ heldOut }) => heldOut.fills >= 50);
    const [near, far] = [judged[0]!.heldOut, judged.at(-1)!.heldOut];
    expect(far.fills).toBeLessThan(near.fills);
    expect(far.later!.value).toBeGreaterThan(near.later!.value);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}, 1_800_000);
