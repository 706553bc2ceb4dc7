/** Strategy files for tests: texts with one change each, and a folder with a configuration that selects one. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { shippedConfig } from '../../src/wiring/configFile.ts';

/** A strategy with one parameter of its own, in TypeScript. */
export const OWN_STRATEGY = `/** Quotes around the mid price, shifted by the last taker. */
import { amountFloor, defineStrategy, fairSteps, quoteAround as around, silent, spreadParameters, unknownIn, z } from 'puntas/strategy';
import type { Instrument, Strategy } from 'puntas/strategy';

type Flow = { share: number };

const parameters = z.strictObject({
  ...spreadParameters,
  takerBps: z.number().min(0).max(50).default(2).describe('Shift after a trade.'),
});

function quoting(p: z.infer<typeof parameters>, instrument: Instrument): Strategy {
  const lots = amountFloor(instrument, p.amount);
  const flow: Flow = { share: 0 };
  return {
    trade: ({ side }) => void (flow.share = side === 'buy' ? 1 : -1),
    quote(view) {
      const unknown = unknownIn(view);
      if (unknown !== null) return silent(unknown);
      const ticks = (flow.share * p.takerBps * view.mid) / 10_000;
      return around(p, lots, view, [...fairSteps(view), { name: 'takers', ticks }]);
    },
  };
}

export default defineStrategy({ contract: 1, parameters, make: quoting });
`;

/** The strategy with a change; throws if the text to change is absent. */
export function changedOwn(from: string | RegExp, to: string): string {
  const text = OWN_STRATEGY.replace(from, to);
  if (text === OWN_STRATEGY) throw new Error(`expected ${String(from)} in the strategy`);
  return text;
}

/** The strategy with another body of `quote`. */
export const quotingBy = (body: string): string =>
  changedOwn(/quote\(view\) \{[^]*?\n {4}\},/, `quote(view) { ${body} },`);

/** A folder with `own.ts` and `bot.yaml`, which selects the file on the embedded exchange. */
export function folderWith(code: string, keys: object = {}): { readonly dir: string; readonly yaml: string } {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-own-'));
  writeFileSync(join(dir, 'own.ts'), code);
  const sandbox = parse(readFileSync(shippedConfig('sandbox'), 'utf8')) as object;
  const strategy = { file: './own.ts', halfSpreadBps: 16, amount: '0.006', levels: 2, ...keys };
  const yaml = join(dir, 'bot.yaml');
  writeFileSync(yaml, stringify({ ...sandbox, strategy, state: { dir: './state' }, metrics: { port: 0 } }));
  return { dir, yaml };
}
