import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { carryOut } from './campaign.ts';
import { commandOf } from './shrink/command.ts';
import { fewest } from './shrink/fewest.ts';
import { causeName, grouped } from './shrink/groups.ts';
import { FAULTS, swarmOf } from './world/faults.ts';
import { keepOf, keepText, parseKeep, partsOf, type Part } from './world/keep.ts';
import { parsePlain, plainer, PLAINS } from './world/plain.ts';
import { scenarioOf } from './world/scenario.ts';

const SHORT = { safetyMs: 200_000, untilMs: 200_000 };

describe('a failing seed with less going wrong', () => {
  it('keeps exactly the items that the failure needs, whichever they are', async () => {
    const lists = fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(lists, fc.func(fc.boolean()), async (all, isNeeded) => {
        const needed = all.filter(item => isNeeded(item));
        const left = await fewest(all, fewer =>
          Promise.resolve(needed.every(item => fewer.includes(item)) ? fewer : null),
        );
        expect(left).toEqual(needed);
      }),
    );
  });

  it('is named by a text that is read back as the same classes and strikes', () => {
    const part = fc.record<Part>({
      fault: fc.constantFrom(...FAULTS),
      index: fc.option(fc.nat({ max: 999 })),
    });
    fc.assert(
      fc.property(fc.array(part), parts => {
        const keep = keepOf(parts);
        expect(parseKeep(keepText(keep))).toEqual(keep);
        expect(keepOf(partsOf(keep))).toEqual(keep);
      }),
    );
  });

  it.each(['x', '1:', '1:2:3', '999', '-1', '1;2'])('is not read from %s', text => {
    expect(() => parseKeep(text)).toThrow('--keep');
  });

  it('is the seed itself, event for event, as long as everything is kept', async () => {
    const all = keepText(keepOf([...swarmOf(3).keys()].map(fault => ({ fault, index: null }))));
    const [seed, kept] = [await carryOut({ seed: 3, ...SHORT }), await carryOut({ seed: 3, keep: all, ...SHORT })];
    expect(kept.run.hash).toBe(seed.run.hash);
  });

  it('has every other strike when it would have had it, though one is left out', async () => {
    const steps = async (keep: string) => {
      const lines: string[] = [];
      const print = (line: string) => void (line.includes('clock stepped') && lines.push(line));
      await carryOut({ seed: 235, keep, safetyMs: 500_000, untilMs: 500_000 }, { print });
      return lines;
    };
    const number = FAULTS.indexOf('clock steps');
    const all = await steps(`${number}`);
    expect(all.length).toBeGreaterThan(2);
    const others = all.map((_, index) => index).filter(index => index !== 1);
    expect(await steps(others.map(index => `${number}:${index}`).join(','))).toEqual(all.filter((_, i) => i !== 1));
  });

  it.each(PLAINS)('has a configuration that loads with the plain value of %s, in every seed', name => {
    for (let seed = 1; seed <= 4; seed++) {
      const scenario = scenarioOf(seed, swarmOf(seed));
      const plain = plainer(scenario, [name]);
      expect(plainer(plain, [name])).toEqual(plain);
      const { strategy } = plainer(scenario, PLAINS).config;
      expect(strategy).toMatchObject(strategy.name === 'ladder' ? { levels: 1, reference: 'mid' } : { levels: 1 });
    }
  });

  it('refuses a setting that it does not know', () => {
    expect(() => parsePlain('levels,colour')).toThrow('colour');
  });

  it('is shown again by one command', () => {
    const task = { seed: 7, keep: '1:17,34', plain: 'levels,hedge', safetyMs: 4_000, untilMs: 5_000, reloads: true };
    expect(commandOf(task)).toBe(
      'npm run sim -- --seed 7 --keep "1:17,34" --plain levels,hedge --heal 4000 --until 5000 --reloads',
    );
  });
});

describe('the failures of a campaign', () => {
  const cause = { isAlways: false, line: '12.000 sent #3 POST /api/v3/orders {"book":"btc_mxn"}', strikes: [] };

  it('are told apart by what happened, not by when and to which order', () => {
    expect(causeName(cause)).toBe('sent #N POST /api/vN/orders');
    expect(causeName({ ...cause, strikes: [{ fault: 'disk full', index: 3, event: 9 }] })).toBe('disk full');
    expect(causeName({ ...cause, isAlways: true })).toBe('nothing has to go wrong');
  });

  it('are grouped by invariant and cause, the largest group first', () => {
    const of = (seed: number, law: string, why: string) => ({ seed, law, cause: why });
    expect(grouped([of(1, 'S1', 'a'), of(2, 'S3', 'a'), of(3, 'S3', 'b'), of(4, 'S3', 'a')])).toEqual([
      { law: 'S3', cause: 'a', seeds: [2, 4] },
      { law: 'S1', cause: 'a', seeds: [1] },
      { law: 'S3', cause: 'b', seeds: [3] },
    ]);
  });
});
