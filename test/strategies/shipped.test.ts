import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { shippedConfig } from '../../src/wiring/configFile.ts';
import { demo } from '../live/demo.ts';
import { fileOf, NAMES } from './examples.ts';
import { README_PARTS } from './readmeParts.ts';

describe.each(NAMES)('%s', name => {
  test('has a configuration that shows both sides on the embedded exchange within seconds, and ends clean', async () => {
    const { bothSidesAfter, left, summary } = await demo(1, 30, {}, fileOf(name));
    expect(bothSidesAfter).toBeLessThanOrEqual(15);
    expect(Math.min(summary.uptime.bid, summary.uptime.ask)).toBeGreaterThan(0.8);
    expect(left).toEqual([]);
    expect(summary.ledgerMatches).toBe(true);
  });

  test('its configuration names it', () => {
    expect(readFileSync(shippedConfig(fileOf(name)), 'utf8')).toContain(`name: ${name}\n`);
  });

  test('has a README with its idea, its formula, its parameters, when it loses money, and a plot of its quotes', () => {
    const text = readFileSync(new URL(`../../strategies/${name}/README.md`, import.meta.url), 'utf8');
    for (const part of README_PARTS) expect(text).toContain(part);
  });
});
