/** What a shipped configuration earns on the built-in market, over several seeds, and the sentence that says so. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { backtest } from '../../backtest/app/backtest/backtest.ts';
import { readConfig } from '../../src/wiring/configFile.ts';
import type { Config } from '../../src/config.ts';
import { kindOf } from '../../strategies/index.ts';
import { NO_CONFIGURATION } from '../shippedConfigs.ts';
import { NO_PROGRESS } from '../app/noProgress.ts';

/** Of one configuration: a net and a number of fills a seed, seeds 1 to `SEEDS`. Nets in the minor currency. */
export type Earned = {
  readonly currency: string;
  readonly nets: readonly number[];
  readonly fills: readonly number[];
};

export const SEEDS = 20;
const SECONDS = 3_600;
const LATENCY_MS = 25;
/** Student's t at 97.5% for one less than `SEEDS`. */
const T = 2.093;
/** A line of the head comment that `sentenceOf` made. */
export const SENTENCE = /^# On the built-in market, .*\n/m;

/** The YAML files of a folder, by name without the ending, but for those of two exchanges or several books: a backtest has one market. */
export const shippedNames = (folder: string): readonly string[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.yaml') && !NO_CONFIGURATION.includes(name))
    .filter(name => !/^(?:elsewhere| {4}books):/m.test(readFileSync(join(folder, name), 'utf8')))
    .map(name => basename(name, '.yaml'))
    .toSorted();

/** An hour of one seed: a configuration on the seeded flow of its book, with requests of 25 ms and expected fills. */
export async function earnedOf(
  config: Config,
  seed: number,
): Promise<{ readonly net: number; readonly fills: number }> {
  const requests = { kind: 'constant', ms: LATENCY_MS } as const;
  const feed = { kind: 'constant', ms: 0 } as const;
  const { models } = await backtest({
    config,
    ...{ configText: '', version: '', tape: null, seed, flowSeconds: SECONDS, flowDrift: 0, models: ['expected'] },
    latencies: { orders: requests, cancels: requests, answers: requests, feed },
    latencyText: { latencyMs: String(LATENCY_MS), feedLatencyMs: '0' },
    ...{ threads: 1, files: null, progress: NO_PROGRESS },
  });
  const [report] = models;
  if (report === undefined) throw new Error('no model was run');
  return { net: Math.round(Number(report.pnl.total) * 100) / 100, fills: report.fills };
}

/** Every seed of a shipped file. */
export async function earnedOfAll(folder: string, name: string): Promise<Earned> {
  const config = readConfig(join(folder, `${name}.yaml`));
  const nets: number[] = [];
  const fills: number[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const earned = await earnedOf(config, seed);
    nets.push(earned.net);
    fills.push(earned.fills);
  }
  return { currency: config.book.split('_')[1] ?? '', nets, fills };
}

/** The sentence of one configuration: the mean of an hour with its 95% interval. */
export function sentenceOf({ currency, nets, fills }: Earned, config: Config): string {
  const market = `# On the built-in market, ${SEEDS} seeds of an hour:`;
  const all = fills.reduce((sum, x) => sum + x, 0);
  if (all < SEEDS) {
    const why = kindOf(config.strategy).needsReference ? ', a backtest has no price from elsewhere' : '';
    return `${market} no figure, ${all === 0 ? 'no fill' : all === 1 ? 'one fill' : `${all} fills`} in all${why}.\n`;
  }
  const mean = nets.reduce((sum, x) => sum + x, 0) / nets.length;
  const variance = nets.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (nets.length - 1);
  const error = T * Math.sqrt(variance / nets.length);
  const [low, high] = [mean - error, mean + error];
  const said = low > 0 ? 'it earns' : high < 0 ? 'it loses:' : 'nothing proven:';
  return `${market} ${said} ${signed(mean)} ${currency} an hour (95%: ${signed(low)} to ${signed(high)}), ${(all / SEEDS).toFixed(0)} fills.\n`;
}

/** The text of a file with its sentence at the end of the head comment. */
export function withSentence(text: string, sentence: string): string {
  const bare = text.replace(SENTENCE, '');
  const end = bare.search(/^(?!#)/m);
  return bare.slice(0, end) + sentence + bare.slice(end);
}

/** The recorded figures, by name. */
export const recordedEarnings = (file: string): Readonly<Record<string, Earned>> =>
  JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, Earned>>;

const signed = (sum: number): string => (sum < 0 ? '-' : '+') + Math.abs(sum).toFixed(Math.abs(sum) < 10 ? 1 : 0);
