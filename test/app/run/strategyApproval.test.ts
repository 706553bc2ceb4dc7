/** Approval of strategy files at a start: what ran last, or what the configuration pins. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { askReload } from '../../../src/app/actions/askReload.ts';
import { changesForAgent, reloadedFile } from '../../../src/app/actions/reloadChanges.ts';
import { reloadRunningBot } from '../../../src/app/promote/runningBot.ts';
import { VirtualClock } from '../../../src/core/index.ts';
import { advancing } from '../../live/world.ts';
import { approvedStrategiesIn, storeApprovedStrategies } from '../../../src/app/run/approvedStrategy.ts';
import { assertStrategyApproved, startApproval, UnapprovedStrategy } from '../../../src/app/run/strategyApproval.ts';
import { haltFrozen } from '../../../src/app/run/frozenProcess.ts';
import { latchIn } from '../../../src/live/safety/latch.ts';
import { inputsOfStart } from '../../../src/cli/commands/source.ts';
import { asTrialOrder, type Config } from '../../../src/config.ts';
import { recorderIn } from '../../../src/live/recording/recordings.ts';
import { readConfig, readShipped, readTradedConfig } from '../../../src/wiring/configFile.ts';
import { strategyFileOf } from '../../../strategies/index.ts';
import { folderWith, OWN_STRATEGY } from '../../strategies/ownFile.ts';

const onApproved = (): void => undefined;

const LADDER = readShipped('sandbox');
const running = (code: string): Config => ({
  ...LADDER,
  strategy: { ...strategyFileOf('./own.ts', code), amount: '1' },
});

test('with money, exactly the text that the newest run took is approved, or any text if none took one', () => {
  const kinds = fc.constantFrom('a', 'b', 'ladder', 'trial of a', 'cut off', 'damaged', 'takes a', 'takes b');
  fc.assert(
    fc.property(fc.array(kinds, { maxLength: 5 }), fc.constantFrom('a', 'b'), fc.boolean(), (runs, code, isPinned) => {
      const stateDir = mkdtempSync(join(tmpdir(), 'puntas-approval-'));
      for (const [i, kind] of runs.entries()) {
        const config =
          kind === 'ladder' ? LADDER : kind === 'trial of a' ? asTrialOrder(running('a'), true) : running(kind.at(-1)!);
        recorderIn(stateDir, { run: i + 1, startedAt: i, setup: JSON.stringify(config) }).close();
        const path = join(stateDir, `run-${i + 1}.rec`);
        const bytes = readFileSync(path);
        if (kind === 'cut off') writeFileSync(path, bytes.subarray(0, 5));
        if (kind === 'damaged') writeFileSync(path, bytes.fill(0, 20, 40));
        if (kind.startsWith('takes')) storeApprovedStrategies(stateDir, config);
        if (kind.startsWith('trial')) storeApprovedStrategies(stateDir, config);
      }
      const taken = runs.findLast(kind => kind.startsWith('takes'));
      const recorded = runs.findLast(kind => kind === 'a' || kind === 'b' || kind === 'damaged');
      const isUnreadable = taken === undefined && recorded === 'damaged';
      const last = taken?.at(-1) ?? recorded;
      if (isUnreadable) expect(() => approvedStrategiesIn(stateDir)).toThrow();
      else expect(approvedStrategiesIn(stateDir)[0]?.code).toBe(last);
      const isApproved = isPinned || last === undefined || last === code;
      const { file, name, sha256 } = strategyFileOf('./own.ts', code);
      const [warnings, found]: [string[], object] = [[], { file, name, sha256, isPinned }];
      const assertion = (isReal: boolean) => () =>
        assertStrategyApproved(found as never, { stateDir, isReal, warn: line => void warnings.push(line) }, 'pin it');
      if (isApproved) expect(assertion(true)).not.toThrow();
      else if (isUnreadable)
        expect(assertion(true)).toThrow(
          new RegExp(
            `^\\./own\\.ts: the approved strategy file in .* cannot be read .* whether ${name} is approved; check`,
          ),
        );
      else {
        const names = `${strategyFileOf('own.ts', last).name} -> ${name}`;
        expect(assertion(true)).toThrow(
          `./own.ts: the strategy file changed since the last run (${names}), and no one has approved the change; restore the file, or check it and pin it`,
        );
      }
      assertion(false)();
      expect(warnings.length).toBe(isApproved ? 0 : 1);
    }),
    { numRuns: 60 },
  );
});

test('a damaged approval refuses a start with money, although a recording has the file', () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'puntas-approval-'));
  recorderIn(stateDir, { run: 1, startedAt: 1, setup: JSON.stringify(running('a')) }).close();
  storeApprovedStrategies(stateDir, running('a'));
  const stored = join(stateDir, 'strategy.json');
  const text = readFileSync(stored, 'utf8');
  const { file, name, sha256 } = strategyFileOf('./own.ts', 'a');
  const start = () =>
    assertStrategyApproved(
      { file, name, sha256, isPinned: false },
      { stateDir, isReal: true, warn: line => expect.unreachable(line) },
      'pin it',
    );
  start();
  for (const damaged of ['', 'null', text.slice(0, -1), text.replace('"code":"a"', '"code":"b"')]) {
    writeFileSync(stored, damaged);
    expect(start).toThrow(/the approved strategy file in .* cannot be read/);
  }
});

test('a start with money does not run a changed file; on paper or on the embedded exchange it does', () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const marker = join(dir, 'was-run');
  const write = (changes: object): void =>
    writeFileSync(yaml, stringify({ ...(parse(readFileSync(yaml, 'utf8')) as object), ...changes }));
  const { state, paper } = readConfig(yaml);
  for (const stateDir of [state.dir, paper.stateDir])
    recorderIn(stateDir, { run: 1, startedAt: 1, setup: JSON.stringify(running(OWN_STRATEGY)) }).close();
  const mark = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(marker)}, '');\n`;
  const changed = `${OWN_STRATEGY}${mark}`;
  writeFileSync(join(dir, 'own.ts'), changed);
  const warnings: string[] = [];
  const start = (isPaper: boolean, stateDir?: string) =>
    readTradedConfig(
      yaml,
      startApproval(yaml, { state: stateDir, isPaper, warn: line => void warnings.push(line), onApproved }),
    );
  const remote = { exchange: { kind: 'remote', restUrl: 'https://example.com', venue: 'bitso' } };
  const embedded = parse(readFileSync(yaml, 'utf8')) as { readonly exchange: object };
  write(remote);
  const { sha256 } = strategyFileOf('own.ts', changed);
  expect(() => start(false)).toThrow(
    new RegExp(`the strategy file changed .* approve it with the key strategy\\.sha256: ${sha256}$`),
  );
  expect([existsSync(marker), warnings]).toEqual([false, []]);
  // Another state directory has no run of another file.
  start(false, join(dir, 'other'));
  expect([existsSync(marker), warnings]).toEqual([true, []]);
  start(true);
  write({ exchange: embedded.exchange });
  start(false);
  expect(warnings).toHaveLength(2);
  expect(warnings[0]).toMatch(/the changed file is used, because no money is traded$/);
  write({ ...remote, strategy: { ...(embedded as unknown as Config).strategy, sha256 } });
  start(false);
  expect(warnings).toHaveLength(2);
});

test('a refused start has a configuration that can cancel the orders of the last run, if it has a key', async () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const marker = join(dir, 'was-run');
  const remote = { exchange: { kind: 'remote', restUrl: 'https://example.com', venue: 'bitso' } };
  writeFileSync(yaml, stringify({ ...(parse(readFileSync(yaml, 'utf8')) as object), ...remote }));
  const { state } = readConfig(yaml);
  const start = () =>
    inputsOfStart(
      { config: yaml, speed: 1 },
      startApproval(yaml, { isPaper: false, warn: line => expect.unreachable(line), onApproved }),
    );
  expect((await start()).refusal).toBeUndefined();
  mkdirSync(state.dir);
  storeApprovedStrategies(state.dir, running(OWN_STRATEGY));
  const mark = `process.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(marker)}, '');\n`;
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}${mark}`);
  vi.stubEnv('PUNTAS_API_KEY', 'key');
  const { refusal, config, file } = await start();
  expect(refusal?.message).toMatch(/and no one has approved the change/);
  expect([config.state.dir, config.exchange.kind, file]).toEqual([state.dir, 'remote', yaml]);
  vi.unstubAllEnvs();
  await expect(start()).rejects.toBeInstanceOf(UnapprovedStrategy);
  expect(existsSync(marker)).toBe(false);
});

test('messages about a stopped bot name the key that a strategy file without approval needs', async () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const remote = { exchange: { kind: 'remote', restUrl: 'https://example.com', venue: 'bitso' } };
  writeFileSync(yaml, stringify({ ...(parse(readFileSync(yaml, 'utf8')) as object), ...remote }));
  const stateDir = readConfig(yaml).state.dir;
  mkdirSync(stateDir);
  storeApprovedStrategies(stateDir, running(OWN_STRATEGY));
  const clock = new VirtualClock();
  const said = async (): Promise<readonly string[]> => {
    const { lines } = await reloadRunningBot({ liveFile: yaml, by: 'ann', reason: 'a test', clock }, 'any');
    const bot = { configFile: yaml, stateDir };
    const command = { config: yaml, paper: false, preview: false, reason: 'a test', by: 'ann', id: 'a' };
    const error: unknown = await advancing(
      clock,
      1_000,
      askReload(command, clock).catch((caught: unknown) => caught),
    );
    return [
      lines.join('; '),
      changesForAgent(bot, reloadedFile(bot), clock.now()).join('; '),
      (error as Error).message,
    ];
  };
  for (const text of await said()) expect(text).toContain('the bot reads the file at its next start');
  const changed = `${OWN_STRATEGY}// changed\n`;
  writeFileSync(join(dir, 'own.ts'), changed);
  const { name, sha256 } = strategyFileOf('own.ts', changed);
  for (const text of await said())
    expect(text).toContain(
      `its next start refuses the strategy file ${name}, because no one has approved the file; check it, and approve it with the key strategy.sha256: ${sha256}`,
    );
  writeFileSync(join(stateDir, 'PAPER'), '');
  for (const text of await said()) expect(text).toContain('the bot reads the file at its next start');
});

test('a file that froze the bot does not start again until a resume, pinned or not; another text starts', () => {
  const { dir, yaml } = folderWith(OWN_STRATEGY);
  const stateDir = join(dir, 'state');
  const started: string[] = [];
  const start = (isPaper = false) =>
    readTradedConfig(
      yaml,
      startApproval(yaml, {
        ...{ ...(isPaper && { state: stateDir }), isPaper, warn: line => expect.unreachable(line) },
        onApproved: (inDir, { name }) => started.push(`${name} in ${inDir}`),
      }),
    );
  start();
  const { name, sha256 } = strategyFileOf('own.ts', OWN_STRATEGY);
  expect(started).toEqual([`${name} in ${stateDir}`]);
  const other = strategyFileOf('own.ts', `${OWN_STRATEGY}//`).name;
  haltFrozen({ stateDir, strategies: [other, name] }, 5);
  const refused = `./own.ts: the strategy file ${other} or ${name} froze the bot with a loop in a timer or promise, and trading is halted; correct the file, or end the halt to run it again: puntas resume --state ${stateDir} --reason "..."`;
  expect(() => start()).toThrow(new UnapprovedStrategy(refused));
  expect(() => start(true)).toThrow(refused);
  const text = readFileSync(yaml, 'utf8');
  writeFileSync(yaml, text.replace('file: ./own.ts', `file: ./own.ts\n  sha256: ${sha256}`));
  expect(() => start()).toThrow(refused);
  writeFileSync(yaml, text);
  writeFileSync(join(dir, 'own.ts'), `${OWN_STRATEGY}// corrected\n`);
  start();
  writeFileSync(join(dir, 'own.ts'), OWN_STRATEGY);
  latchIn(stateDir).lift('looked at it');
  start();
  expect(started.length).toBe(3);
});
