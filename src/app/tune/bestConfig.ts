/** The best configuration of a study as YAML: the file that it began with, with what was found, and the evidence above it. */
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { isMap, isScalar, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import type { Tuning } from '../../../backtest/index.ts';
import { tuningWords } from '../../../backtest/index.ts';
import { wrapped } from '../messages/wrapped.ts';
import { settingsOf } from './parameters.ts';
import type { TrialRecord } from './registry.ts';
import type { Study } from './study.ts';

const WIDTH = 110;

/** For a file in the folder `to`: relative paths lead where they led. Remarks of the first file stay where nothing was changed. */
export function bestConfig(study: Study, best: TrialRecord, tuning: Tuning, to: string): string {
  const document = parseDocument(study.configText, { uniqueKeys: false });
  // What the first file says of itself is not true of another.
  document.commentBefore = null;
  if (isMap(document.contents)) {
    document.contents.commentBefore = null;
    const [first] = document.contents.items;
    if (first !== undefined && isScalar(first.key)) first.key.commentBefore = null;
  }
  for (const [key, value] of settingsOf(best.point, study.keys.parameters, study.base))
    set(document, key.split('.'), value);
  for (const path of PATHS) movePath(document, path, dirname(study.configFile), to);
  const feeds = document.getIn(['reference', 'feeds']);
  if (typeof feeds === 'object' && feeds !== null && 'items' in feeds && Array.isArray(feeds.items))
    for (const i of feeds.items.keys())
      movePath(document, ['reference', 'feeds', i, 'file'], dirname(study.configFile), to);
  const header = evidenceLines(study, best, tuning).map(line => (line === '' ? '#' : `# ${line}`));
  return `${header.join('\n')}\n\n${document.toString({ lineWidth: 0 }).trimStart()}`;
}

/** Paths that are taken from the folder of the file. */
const PATHS: readonly (readonly string[])[] = [
  ['exchange', 'market', 'dir'],
  ['paper', 'stateDir'],
  ['state', 'dir'],
];

function movePath(document: Document, path: readonly (string | number)[], from: string, to: string): void {
  const value = document.getIn(path);
  if (typeof value !== 'string' || isAbsolute(value)) return;
  const moved = relative(resolve(to), resolve(from, value));
  document.setIn(path, moved === '' ? '.' : moved);
}

/** A remark above or beside a value that is another now would be wrong. */
function set(document: Document, path: readonly string[], value: unknown): void {
  const above = document.getIn(path.slice(0, -1));
  const pair = isMap(above) ? above.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  if (pair !== undefined) {
    if (isScalar(pair.key)) pair.key.commentBefore = null;
    if (isScalar(pair.value)) pair.value.comment = null;
  }
  document.setIn(path, document.createNode(value));
}

function evidenceLines({ file }: Study, { number, point }: TrialRecord, tuning: Tuning): readonly string[] {
  const { tapes, made, study, search, counts } = tuning;
  return [
    ...wrapped(
      `Found by puntas tune (${made.puntas}), study ${study.slice(0, 12)} of ${file.split('/').at(-1) ?? ''}, trial ${number} of ${search.trials} (${search.algorithm}, seed ${search.seed}; ${counts.pruned} stopped early, ${counts.refused} refused).`,
      WIDTH,
    ),
    ...Object.entries(point).map(
      ([key, value]) => `  ${key}: ${typeof value === 'number' ? Number(value.toPrecision(4)) : value}`,
    ),
    ...tapes.map(
      ({ name, market, digest, tuned, heldOut }) =>
        `  ${name}: ${market}, ${digest.slice(0, 12)}${tuned === null ? '' : `, tuned ${span(tuned)}`}${heldOut === null ? '' : `, held out ${span(heldOut)}`}`,
    ),
    ...tuningWords(tuning).flatMap(paragraph => ['', ...wrapped(paragraph, WIDTH)]),
  ];
}

const span = ([from, to]: readonly [string, string]): string => `${from.slice(0, 19)}Z to ${to.slice(0, 19)}Z`;
