/** Texts of a candidate at the stages of its promotion: where each keeps its state, and what it trades. */
import { readFileSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { paperText, wholeText, type Candidate } from '../../../src/app/promote/candidate.ts';
import { tradingDigest } from '../../../src/app/promote/tradingDigest.ts';
import { EVIDENCE_MARK } from '../../../src/app/promote/tunedEvidence.ts';
import { loadConfig, type Config } from '../../../src/config.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { few } from '../../many.ts';

const [IN, LIVE, PAPER] = ['/home/ann/in', '/home/ann/live', '/home/ann/live/my.promotions/1'] as const;
const REMOTE = { kind: 'remote', restUrl: 'https://example.com', venue: 'bitso' };
const read = (text: string): Config => {
  const loaded = loadConfig(text, 'a text', ['bitso']);
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  return loaded.config;
};

const cases = few(['hedged', 'sandbox', 'glft', 'grid'], 2).flatMap(name => [
  [name, 'embedded', {}] as const,
  [name, 'remote', { exchange: REMOTE }] as const,
]);

describe.each(cases)('the candidate %s on an exchange that is %s', (name, kind, exchange) => {
  const tree = parse(readFileSync(shippedConfig(name), 'utf8')) as object;
  const own = {
    state: { dir: './bot' },
    metrics: { port: 9_111 },
    paper: { stateDir: './own-paper', fills: 'expected' },
  };
  const text = `${EVIDENCE_MARK}{}\n${stringify({ ...tree, ...own, ...exchange })}`;
  const candidate: Candidate = { file: `${IN}/best.yaml`, config: read(text), text, tuned: null, strategy: null };

  test('trades on paper as itself, on a port that nobody has, with a state that only this promotion has', () => {
    const paper = read(paperText(candidate, PAPER, 'A test.'));
    expect(tradingDigest(paper)).toBe(tradingDigest(candidate.config));
    expect(paper.metrics.port).toBe(0);
    expect(paper.exchange).toEqual(candidate.config.exchange);
    const isRemote = kind === 'remote';
    expect(paper.paper.only).toBe(isRemote);
    expect(paper.paper.fills).toBe('expected');
    const used = resolve(PAPER, isRemote ? paper.paper.stateDir : paper.state.dir);
    expect(used.startsWith(`${PAPER}${sep}`)).toBe(true);
    // The path that the stage does not use leads where it led.
    if (isRemote) expect(resolve(PAPER, paper.state.dir)).toBe(`${IN}/bot`);
    else expect(resolve(PAPER, paper.paper.stateDir)).toBe(`${IN}/own-paper`);
  });

  test('is in the live file itself, with paths that lead where they led and without evidence of another text', () => {
    const whole = wholeText(candidate, LIVE, 'A test.');
    const { state, paper, ...rest } = read(whole);
    expect([resolve(LIVE, state.dir), resolve(LIVE, paper.stateDir)]).toEqual([`${IN}/bot`, `${IN}/own-paper`]);
    const { state: ownState, paper: ownPaper, ...ownRest } = candidate.config;
    expect(rest).toEqual(ownRest);
    expect([{ ...state, dir: '' }, { ...paper, stateDir: '' }]).toEqual([{ ...ownState, dir: '' }, { ...ownPaper, stateDir: '' }]); // prettier-ignore
    for (const made of [whole, paperText(candidate, PAPER, 'A test.')]) {
      expect(made).not.toContain(EVIDENCE_MARK);
      expect(made.startsWith('# A test.\n')).toBe(true);
    }
  });
});
