/**
 * Candidate of a promotion, and its text at each stage: on paper with a separate state, in the live file with the
 * smallest sizes, then with full sizes.
 */
import { basename, dirname, join, relative, resolve } from 'node:path';
import { isMap, isScalar, parseDocument, type Document } from 'yaml';
import { loadConfig, strategyHashIn, strategyPinIn, type Config } from '../../config.ts';
import { textOfMoney } from '../../core/index.ts';
import { tunedEvidenceIn, withoutEvidence, type TunedEvidence } from './tunedEvidence.ts';
import { wrapped } from '../../messages/wrapped.ts';
import { movePaths } from '../../wiring/movedPaths.ts';
import { readConfigText, readTradedText, refuseBooks, strategyFilesIn } from '../../wiring/configFile.ts';
import { UsageError } from '../../wiring/usageError.ts';
import { VENUES } from '../../wiring/venueRegistry.ts';
import type { LastTraded } from './promotionJudge.ts';
import type { OpenPromotion } from './promotionState.ts';
import type { KeptStrategy } from './records.ts';
import { digestOf } from '../run/reloading.ts';
import { tradingDigest } from './tradingDigest.ts';
import { scaledSizes, smallestAmount, type SmallestAmount } from './smallestSizes.ts';

export type Candidate = {
  /** Absolute path of the candidate file. */
  readonly file: string;
  readonly config: Config;
  readonly text: string;
  readonly tuned: TunedEvidence | null;
  /** Copy of the strategy file of the candidate; `null` if it has none. */
  readonly strategy: StrategyCopy | null;
};

/** Strategy file of a promotion. Its copy is what runs on paper and live, whatever happens to the original. */
export type StrategyCopy = KeptStrategy & {
  /** Absolute path of the copy. */
  readonly copy: string;
};

/** Returns the strategy file of a promotion with the path of its copy in the folder of the promotions. */
export const strategyCopyIn = (dir: string, kept: KeptStrategy): StrategyCopy => ({
  ...kept,
  copy: resolve(dir, 'files', kept.sha256, kept.name.slice(0, kept.name.lastIndexOf('@'))),
});

/**
 * Reads a candidate; `dir` is the folder of the promotions. Does not run its strategy file.
 * @throws UsageError if the file has errors, or if `puntas tune` wrote it and its content has changed since then.
 */
export function readCandidate(path: string, dir: string): Candidate {
  const { config, text } = readConfigText(path);
  refuseBooks(config, 'a promotion');
  const tuned = tunedEvidenceIn(text, strategyHashIn(config));
  if (typeof tuned === 'string')
    throw new UsageError(
      `${path}: ${tuned}; tune again, or remove the line "# evidence:" to use the candidate without evidence`,
    );
  const { strategy } = config;
  if (!('file' in strategy)) return { file: resolve(path), config, text, tuned, strategy: null };
  const { name, sha256 } = strategy;
  if (sha256 === undefined) throw new UsageError(`${path}: strategy.file: ${strategy.file}: cannot be read`);
  const pinned = strategyPinIn(text);
  if (pinned !== null && pinned !== sha256)
    throw new UsageError(
      `${path}: strategy.sha256: expected the SHA-256 ${pinned}, found ${sha256}: ${strategy.file} is not the approved text; restore the file, or change this key`,
    );
  return { file: resolve(path), config, text, tuned, strategy: strategyCopyIn(dir, { name, sha256 }) };
}

/**
 * Returns the text of a candidate's strategy file, which has the hash with which the candidate was read.
 * @throws UsageError if the file changed since then.
 */
export function strategyTextOf({ file, config, strategy }: Candidate): string {
  const given = 'file' in config.strategy ? config.strategy.file : '';
  const text = strategyFilesIn(dirname(file))(given);
  if (digestOf(text) !== strategy?.sha256)
    throw new UsageError(`${given}: changed while the promotion started; try again`);
  return text;
}

/** Makes a text run the copy of the strategy file: only this copy has the hash that the text names. */
export function pinStrategy(document: Document, strategy: StrategyCopy | null, to: string): void {
  if (strategy === null) return;
  const path = relative(resolve(to), strategy.copy);
  document.setIn(['strategy', 'file'], path === basename(path) ? `./${path}` : path);
  document.setIn(['strategy', 'sha256'], strategy.sha256);
}

/**
 * Asserts that the proposed live file `text` trades on the same exchange, book and account as the current live file
 * `before`. `placeOf` lists the keys that must be equal.
 * @throws UsageError with one line for each key that differs, or if a text is not a configuration.
 */
export function samePlace(file: string, text: string, liveFile: string, before: string): void {
  const placeOf = ({ book, instance, exchange, state }: Config): Readonly<Record<string, string>> => ({
    ...{ book, instance, 'exchange.kind': exchange.kind },
    'exchange.restUrl': exchange.kind === 'remote' ? exchange.restUrl : '',
    'state.dir': state.dir,
  });
  const [own, other] = [placeOf(liveConfig(text, liveFile)), placeOf(liveConfig(before, liveFile, liveFile))];
  const wrong = Object.keys(own).filter(key => own[key] !== other[key]);
  if (wrong.length > 0)
    throw new UsageError(
      wrong.map(
        key =>
          `${file}: ${key}: expected ${other[key]} as in ${liveFile}, found ${own[key]}; a promotion cannot change the exchange, book or account`,
      ),
    );
}

type ReadLive =
  { readonly ok: true; readonly config: Config } | { readonly ok: false; readonly errors: readonly string[] };

/**
 * Parses a text as the live file; `state.dir` is relative to the folder of the live file. Returns all errors if the
 * text is invalid. `called` names the text in errors.
 */
export function readLive(text: string, liveFile: string, called = `what would be ${liveFile}`): ReadLive {
  const loaded = loadConfig(
    text,
    called,
    VENUES.map(({ name }) => name),
    { isRun: false, read: strategyFilesIn(dirname(liveFile)) },
  );
  if (!loaded.ok) return loaded;
  const { config } = loaded;
  return {
    ok: true,
    config: { ...config, state: { ...config.state, dir: resolve(dirname(liveFile), config.state.dir) } },
  };
}

/** Returns the configuration that `readLive` parses. @throws UsageError with all errors. */
export function liveConfig(text: string, liveFile: string, called?: string): Config {
  const read = readLive(text, liveFile, called);
  if (!read.ok) throw new UsageError(read.errors);
  return read.config;
}

/** Returns the candidate's text for a file in the folder `to`, with `head` as its first comment. */
export function wholeText({ file, text, strategy }: Candidate, to: string, head: string): string {
  const document = parseDocument(text, { uniqueKeys: false });
  movePaths(document, dirname(file), to);
  pinStrategy(document, strategy, to);
  return withHead(head, document);
}

/**
 * Returns the candidate's text for a paper run from the folder `to`: a separate state in that folder, a free port, and
 * no real orders.
 */
export function paperText({ file, text, config, strategy }: Candidate, to: string, head: string): string {
  const document = parseDocument(text, { uniqueKeys: false });
  movePaths(document, dirname(file), to);
  pinStrategy(document, strategy, to);
  if (config.exchange.kind === 'remote') {
    document.setIn(['paper', 'only'], true);
    document.setIn(['paper', 'stateDir'], PAPER_STATE);
  } else document.setIn(['state', 'dir'], PAPER_STATE);
  // The port in the file belongs to the live bot.
  document.setIn(['metrics', 'port'], 0);
  return withHead(head, document);
}

export const PAPER_STATE = './paper-state';

/** Returns the path of the candidate's file for paper runs. */
export const paperFile = (dir: string, promotion: number): string => join(dir, String(promotion), 'paper.yaml');

/**
 * Returns the configuration of the paper runs, whose strategy file is run.
 * @throws UsageError if a trading key of the file differs from the candidate.
 */
export function paperConfig(dir: string, { started }: OpenPromotion): Config {
  const file = paperFile(dir, started.promotion);
  const { config } = readConfigText(file);
  if (tradingDigest(config) !== started.trading)
    throw new UsageError(
      `${file}: settings that affect trading were changed during the promotion; roll back with puntas promote back, and start a new promotion with the changed file`,
    );
  return readTradedText(file).config;
}

/**
 * Returns the candidate's text for a file in the folder `to`, with all sizes reduced in proportion. The orders are then
 * the smallest that the book accepts.
 */
export function smallestText(
  { file, text, config, strategy }: Candidate,
  to: string,
  traded: LastTraded,
  head: string,
): { readonly text: string; readonly smallest: SmallestAmount } {
  const document = parseDocument(text, { uniqueKeys: false });
  movePaths(document, dirname(file), to);
  pinStrategy(document, strategy, to);
  const smallest = smallestAmount(config, traded);
  for (const { path, value, was } of scaledSizes(config, smallest)) {
    document.setIn(path, value);
    const above = document.getIn(path.slice(0, -1));
    const pair = isMap(above) ? above.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
    if (pair !== undefined && isScalar(pair.value)) pair.value.comment = ` was ${was}`;
  }
  const { instrument } = traded;
  const why = `The orders are the smallest that ${instrument.symbol} accepts: ${textOfMoney(smallest.lots)} ${instrument.major} (${smallest.why}). Amounts, limits and risk are ${smallest.share === 'all' ? 'those of the candidate' : `${smallest.share} of the candidate's values, so that their proportions stay equal`}.`;
  return { text: withHead(`${head} ${why}`, document), smallest };
}

const WIDTH = 110;

const withHead = (head: string, document: Document): string =>
  `${wrapped(head, WIDTH)
    .map(line => `# ${line}`)
    .join('\n')}\n\n${withoutEvidence(document.toString({ lineWidth: 0 })).trimStart()}`;
