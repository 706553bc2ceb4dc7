/** Promotion as text, in at most 80 columns if its paths allow, and as JSON. */
import { basename } from 'node:path';
import { minuteOf } from '../inspect/profitReport.ts';
import { wrapped } from '../../messages/wrapped.ts';
import type { Promoted } from './promoteCommand.ts';
import type { CriterionFinding, StageLook } from './records.ts';
import { inPlace } from './promotionState.ts';

const WIDTH = 80;

/** Returns the messages, the stage, the last check as a table, and the next commands. */
export function promotedText({ standing, check, lines, next }: Promoted, liveFile: string): readonly string[] {
  return [
    // Short lines are not wrapped, because wrapping would change the spaces of a table.
    ...lines.flatMap(line => (line.length > WIDTH ? wrapped(line, WIDTH) : [line])),
    ...wrapped(whereText(standing, liveFile), WIDTH),
    ...(check === null
      ? []
      : ['', `criteria of stage ${check.stage} at the last check:`, ...findingsText(check.findings)]),
    ...(next.length === 0 ? [] : ['', 'next:', ...next.map(command => `  ${command}`)]),
  ];
}

/** Returns the stage of the promotion in one sentence. */
function whereText(standing: Promoted['standing'], liveFile: string): string {
  const { open, placed } = standing;
  const name = basename(liveFile);
  const held = inPlace(standing);
  if (open !== null) {
    const { promotion, file, candidate } = open.started;
    const last = open.checked;
    const looked = last === null ? '' : ` Checked at ${minuteOf(last.at)} by ${last.by}: ${last.result}.`;
    return `${name}: promotion ${promotion} (${basename(file)}, SHA-256 ${candidate.slice(0, 8)}) has been at stage ${open.stage} since ${minuteOf(open.since)} UTC.${looked}`;
  }
  if (held === null) return `${name}: no promotion is under way, and the file was not written by a promotion.`;
  const before = placed.length > 1 ? `; the previous file was written by promotion ${placed.at(-2)!.promotion}` : '';
  return `${name}: the file was written by promotion ${held}, which is complete${before}. No promotion is under way.`;
}

const RESULT_WIDTH = 7;
const NAME_WIDTH = 10;
const EXPECTED_WIDTH = 25;
const FOUND_WIDTH = WIDTH - RESULT_WIDTH - NAME_WIDTH - EXPECTED_WIDTH - 6;

/** Returns a table with one row per criterion: result, name, expected and found value. */
function findingsText(findings: readonly CriterionFinding[]): readonly string[] {
  const row = (cells: readonly [string, string, string, string]): string =>
    [cells[0].padEnd(RESULT_WIDTH), cells[1].padEnd(NAME_WIDTH), cells[2].padEnd(EXPECTED_WIDTH), cells[3]]
      .join('  ')
      .trimEnd();
  return [
    row(['', 'criterion', 'expected', 'found']),
    ...findings.flatMap(({ criterion, expected, found, result }) => {
      const [left, right] = [wrapped(expected, EXPECTED_WIDTH), wrapped(found, FOUND_WIDTH)];
      return Array.from({ length: Math.max(left.length, right.length) }, (_, i) =>
        row([i === 0 ? result : '', i === 0 ? criterion : '', left[i] ?? '', right[i] ?? '']),
      );
    }),
  ];
}

const checkJson = ({ stage, result, findings, replay, run }: StageLook) => ({
  ...{ stage, result, findings },
  replay: replay ?? null,
  run: run ?? null,
});

/** Returns the promotion as one JSON object (docs/json.md). */
export function promotedJson({ end, standing, check, lines, next }: Promoted, liveFile: string, dir: string): object {
  const { open, placed, pending, count } = standing;
  return {
    ...{ end, live: liveFile, journal: dir, count },
    promotion: open?.started.promotion ?? inPlace(standing),
    stage: open?.stage ?? (inPlace(standing) === null ? null : 'promoted'),
    since: open === null ? null : new Date(open.since).toISOString(),
    candidate: open && { file: open.started.file, digest: open.started.candidate },
    strategy: open?.started.strategy ?? null,
    criteria: open?.started.criteria ?? null,
    tuned: open?.started.tuned ?? null,
    inPlace: placed.map(({ promotion }) => promotion),
    pending: pending !== null,
    check: check && checkJson(check),
    ...{ lines, next },
  };
}
