/** Every row of the table on a real bot: it is caused, what a person reads is there, the recording says the same, and the process ends as documented. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SHOWN, Stage } from '../runbook/stage.ts';
import { KINDS, type Kind } from './kinds.ts';
import { kindsOf, patternOf, type Life, type Step } from './life.ts';
import { LIVES } from './lives.ts';
import { Prometheus } from './prometheus.ts';
import { regimeLines } from './regimes.ts';
import { Scene } from './scene.ts';

const caused = new Set<Kind>();

describe.concurrent('each is caused, and a person reads', () => {
  const dir = mkdtempSync(join(tmpdir(), 'puntas-causes-'));
  const prometheus = new Prometheus(dir);
  const shared = new Stage();

  beforeAll(async () => {
    await prometheus.start();
    await opened(shared, []);
  });
  afterAll(async () => {
    await shared.close();
    await prometheus.close();
    rmSync(dir, { recursive: true, force: true });
    const count = (what: string) => [...caused].filter(kind => kind.startsWith(`${what}: `)).length;
    console.log(
      `${count('regime')} regimes, ${count('halt')} halts, ${count('pause')} pauses, ${count('level')} reasons of levels, ${count('alert')} alerts caused (of ${KINDS.length} kinds ${caused.size})`,
    );
  });

  async function stageOf({ exchange }: Life): Promise<Stage> {
    if (exchange === 'shared') return shared;
    const stage = new Stage();
    // What is made by hand has its flow in another book.
    await opened(stage, exchange === 'own' ? [] : ['-c', 'config/eth_usd.yaml']);
    return stage;
  }

  LIVES.forEach((life, i) =>
    test(life.name, async () => {
      const stage = await stageOf(life);
      const scene = await Scene.open(stage, prometheus, life, `life${i + 1}`);
      try {
        await life.before?.(scene);
        await scene.start(life.begins === undefined ? SHOWN : patternOf(life.begins));
        let heard = 0;
        for (const step of life.steps) {
          await caused_(scene, step, heard);
          for (const kind of kindsOf(step)) caused.add(kind);
          heard = scene.bot.heard;
        }
        await ends(scene, life);
      } finally {
        await scene.close();
        if (stage !== shared) await stage.close();
      }
    }),
  );
});

/** The best fees, as the account of the configuration has them. */
async function opened(stage: Stage, args: readonly string[]): Promise<void> {
  await stage.openExchange(args);
  await stage.operator('PATCH', 'books/btc_mxn', { maker: '0.001', taker: '0.0015' });
  // All bots of the check have one address.
  await stage.operator('PATCH', 'switches', { rateLimits: 'off' });
}

async function caused_(scene: Scene, step: Step, heard: number): Promise<void> {
  const before = scene.bot;
  await step.does?.(scene);
  // A process that was started since is heard from its beginning.
  const since = scene.bot === before ? heard : 0;
  for (const text of step.log ?? [])
    if (/^regime: .*, was \w/.test(text))
      await scene.sees('the log', patternOf(text), async () => regimeLines(scene.bot.run.stderr(), since));
    else await scene.bot.hears(patternOf(text), since);
  const { ready, explain, metrics = [], halted, alerts = {} } = step;
  if (ready !== undefined) {
    const reason = ready === true ? '' : patternOf(`${ready}${halted ?? ''}`).source;
    const wanted = ready === true ? /"ready":true/ : new RegExp(`"ready":false,"reasons":.*${reason}`);
    await scene.sees('/readyz', wanted, () => scene.page('readyz'));
  }
  if (halted !== undefined) await scene.sees('HALTED', patternOf(halted), async () => scene.latch());
  for (const metric of metrics) await scene.sees('/metrics', patternOf(metric), () => scene.page('metrics'));
  if (explain !== undefined)
    await scene.sees('puntas explain', patternOf(explain), async () => {
      const { text } = await scene.types('explain');
      expect(text).not.toContain('DIFFERENT');
      return text;
    });
  for (const [name, summary] of Object.entries(alerts)) await scene.raises(name, patternOf(summary));
}

async function ends(scene: Scene, { code, ends: how }: Life): Promise<void> {
  const { run } = scene.bot;
  await scene.feed();
  if (how === undefined && !run.isOver()) run.signal('SIGTERM');
  const ended = await run.ended;
  expect(ended, run.stderr().slice(-4_000) + run.stdout()).toEqual({ code, signal: null });
  const replayed = await scene.stage.types(['replay', scene.state, '--all']);
  expect(replayed.code, replayed.text).toBe(0);
  expect((await scene.types('explain')).text).not.toContain('DIFFERENT');
  // Something broke, or orders may be left.
  if (how !== undefined || code === 3) return;
  await scene.isAskedInVain();
  expect(await scene.alerts()).not.toContain('PuntasDown');
}
