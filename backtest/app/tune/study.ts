/** Study from YAML: read, checked with its configuration, and identified by a digest. */
import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import type { HedgeTape, Space } from '../../index.ts';
import { externalReferenceOf, strategyTextIn, withStrategyFile, type Config } from '../../../src/config.ts';
import type { Problem } from '../../../src/config/problems.ts';
import { readTradedText } from '../../../src/wiring/configFile.ts';
import { readYamlFile } from '../../../src/wiring/yamlFile.ts';
import { routeBooks } from '../backtest/hedgeRoutes.ts';
import { digestOfTape } from '../backtest/market.ts';
import { parameterProblems, spaceOf } from './parameters.ts';
import { studySchema, type StudyKeys } from './studySchema.ts';

export type Study = {
  readonly keys: StudyKeys;
  /** Absolute paths of the study and, in `configFile`, of its configuration. */
  readonly file: string;
  readonly configFile: string;
  readonly configText: string;
  readonly config: Config;
  /** Configuration as written, without defaults, but with the text of a strategy file. */
  readonly base: Readonly<Record<string, unknown>>;
  readonly space: Space;
};

/**
 * Reads a study; relative paths in the study start at its folder. `isHedged`: whether a recording of the other exchange
 * executes the hedges there. Throws `UsageError` with one line per mistake.
 */
export function readStudy(path: string, isHedged = false): Study {
  const { data: keys, tell } = readYamlFile(path, studySchema, {
    ...{ what: 'study', like: 'like trials: 64' },
    advice: 'pass a study with -c FILE (docs/tuning.md)',
  });
  const configFile = resolve(dirname(resolve(path)), keys.config);
  const { config, text: configText } = readTradedText(configFile);
  const written: unknown = parse(configText);
  const strategyText = strategyTextIn(config);
  const base = (
    strategyText === undefined ? written : withStrategyFile(written, { isRun: true, read: () => strategyText }).value
  ) as Study['base'];
  const problems = [
    ...keyProblems(keys),
    ...referenceProblems(keys, config),
    ...parameterProblems(keys.parameters, base, isHedged),
  ];
  if (problems.length > 0) return tell(problems);
  return { keys, file: resolve(path), configFile, configText, config, base, space: spaceOf(keys.parameters) };
}

/** Returns the problems of a study that concern several keys. */
function keyProblems({ tapes, holdout, objectives, models }: StudyKeys): readonly Problem[] {
  const names = tapes.map(({ name }) => name);
  const twice = names.findIndex((name, i) => name !== undefined && names.indexOf(name) < i);
  const unknown = (holdout.tapes ?? []).findIndex(name => !names.includes(name));
  const trained = names.some(name => name === undefined || !(holdout.tapes ?? []).includes(name));
  const same = (list: readonly string[]): number => list.findIndex((name, i) => list.indexOf(name) < i);
  return [
    ...(twice < 0
      ? []
      : [{ path: ['tapes', twice, 'name'], message: `expected a unique name, found ${names[twice]} twice` }]),
    ...(unknown < 0
      ? []
      : [
          {
            path: ['holdout', 'tapes', unknown],
            message: `no tape has the name ${holdout.tapes![unknown]}; ${names.some(Boolean) ? `the tapes have the names ${names.filter(Boolean).join(', ')}` : `add name: ${holdout.tapes![unknown]} to this tape in the list tapes`}`,
          },
        ]),
    ...(trained
      ? []
      : [
          {
            path: ['holdout', 'tapes'],
            message: 'the holdout contains every tape; leave at least one tape for tuning',
          },
        ]),
    ...(same(objectives) < 0
      ? []
      : [{ path: ['objectives', same(objectives)], message: `${objectives[same(objectives)]} is named twice` }]),
    ...(same(models) < 0
      ? []
      : [{ path: ['models', same(models)], message: `${models[same(models)]} is named twice` }]),
  ];
}

/** Sections of the configuration that name the books whose recordings a study can use. */
const NAMES_BOOKS = /^(reference|hedge)(\.|$)/;

/**
 * Returns a problem for each recording that no trial uses. Checks nothing if a parameter changes the books that the
 * configuration names.
 */
function referenceProblems({ reference, parameters }: StudyKeys, config: Config): readonly Problem[] {
  if (Object.keys(parameters).some(key => NAMES_BOOKS.test(key))) return [];
  const used = [...(externalReferenceOf(config)?.legs.map(({ book }) => book) ?? []), ...routeBooks(config)];
  const flaw =
    used.length === 0
      ? 'the configuration has no reference price and no hedge route through a book'
      : `the configuration does not use this book; expected one of ${used.join(', ')}`;
  return Object.keys(reference)
    .filter(book => !used.includes(book))
    .map(book => ({
      path: ['reference', book],
      message: `${flaw}; remove this recording`,
      aboutKey: true,
    }));
}

/**
 * Returns the digest of everything that determines the results of the trials. The number of trials is excluded, so that
 * a longer study has the same digest. `tapes` contains the digests of tuning and holdout hours; `hedge` is the recording
 * of the other exchange, if there is one.
 */
export function studyDigest(
  { keys, config }: Study,
  version: string,
  tapes: readonly string[],
  hedge: HedgeTape | null = null,
): string {
  const { search, tapes: _, config: __, ...rest } = keys;
  const { trials: ___, ...searched } = search;
  const there = hedge && { digest: digestOfTape(hedge.tape), feeBps: hedge.feeBps, latencyMs: hedge.latencyMs };
  return digestOfData({ version, tapes, config, search: searched, ...rest, ...(there && { hedge: there }) });
}

/** Returns the SHA-256 of plain data, in hex. */
export const digestOfData = (data: unknown): string => createHash('sha256').update(JSON.stringify(data)).digest('hex');
