/**
 * Best configuration of a study as YAML: the original file with the parameters of the best trial, preceded by the
 * evidence.
 */
import { counted } from '../../../src/core/index.ts';
import { dirname } from 'node:path';
import { isMap, isScalar, parseDocument, type Document } from 'yaml';
import { tuningWords, type Tuning } from '../../index.ts';
import { strategyHashIn } from '../../../src/config.ts';
import { wrapped } from '../../../src/messages/wrapped.ts';
import { movePaths } from '../../../src/wiring/movedPaths.ts';
import { settingsOf } from './parameters.ts';
import type { TrialRecord } from './registry.ts';
import type { Study } from './study.ts';
import { digestOfYaml, EVIDENCE_MARK, type TunedEvidence } from '../../../src/app/promote/tunedEvidence.ts';

const WIDTH = 110;

/**
 * Builds the text for a file in the folder `to`, with relative paths adjusted. Comments of the original next to
 * unchanged values are kept.
 */
export function bestConfig(study: Study, best: TrialRecord, tuning: Tuning, to: string): string {
  const document = parseDocument(study.configText, { uniqueKeys: false });
  // The original's header comments do not apply to the new file.
  document.commentBefore = null;
  if (isMap(document.contents)) {
    document.contents.commentBefore = null;
    const [first] = document.contents.items;
    if (first !== undefined && isScalar(first.key)) first.key.commentBefore = null;
  }
  for (const [key, value] of settingsOf(best.point, study.keys.parameters, study.base))
    set(document, key.split('.'), value);
  movePaths(document, dirname(study.configFile), to);
  const header = evidenceLines(study, best, tuning).map(line => (line === '' ? '#' : `# ${line}`));
  const body = document.toString({ lineWidth: 0 }).trimStart();
  const digest = digestOfYaml(body, strategyHashIn(study.base));
  return `${[...header, '#', tunedLine(best, tuning, digest)].join('\n')}\n\n${body}`;
}

/** Sets a value and removes the comments above and next to the old value, which may no longer be true. */
function set(document: Document, path: readonly string[], value: unknown): void {
  const above = document.getIn(path.slice(0, -1));
  const pair = isMap(above) ? above.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  if (pair !== undefined && isScalar(pair.key)) pair.key.commentBefore = null;
  document.setIn(path, document.createNode(value));
}

function evidenceLines({ file }: Study, { number, point }: TrialRecord, tuning: Tuning): readonly string[] {
  const { tapes, made, study, search, counts } = tuning;
  return [
    ...wrapped(
      `Found by puntas tune (${made.puntas}) as trial ${number} of ${search.trials} in study ${study.slice(0, 12)} of ${file.split('/').at(-1) ?? ''} (${search.algorithm}, seed ${search.seed}; ${counted(counts.pruned, 'trial')} stopped early, ${counts.refused} could not run).`,
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

/** Returns the header line with the evidence as data; `config` is the digest of the configuration below it. */
function tunedLine({ number }: TrialRecord, tuning: Tuning, config: string): string {
  const { evidence, holdout, verdict, tapes, study, made } = tuning;
  const told: TunedEvidence = {
    ...{ config, puntas: made.puntas, study, trial: number },
    trials: evidence?.deflated.trials ?? 0,
    tapes: tapes.map(({ market, digest, tuned, heldOut }) => ({
      ...{ market, digest },
      tuned: tuned === null ? null : [tuned[0], tuned[1]],
      heldOut: heldOut === null ? null : [heldOut[0], heldOut[1]],
    })),
    better: verdict.better,
    net60s: evidence?.net ?? 0,
    interval: evidence?.interval ?? null,
    deflated: evidence?.deflated.probability ?? 0,
    pbo: evidence?.pbo?.value ?? null,
    holdout: holdout && { at: holdout.at, net60s: holdout.net, interval: holdout.interval },
  };
  return `${EVIDENCE_MARK}${JSON.stringify(told)}`;
}
