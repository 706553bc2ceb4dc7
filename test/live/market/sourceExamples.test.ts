/** Sources of the reference price as the pages show them, on an embedded exchange and on paper, with the parts that ship. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { check } from '../../../src/app/doctor/check.ts';
import { explain } from '../../../src/app/inspect/explain.ts';
import { paperWorld } from '../paperWorld.ts';
import { Folders } from '../states.ts';
import { advanceUntil, started, worldOf } from '../world.ts';

const folders = new Folders();
afterAll(() => folders.clear());
const WITHIN_MS = 30_000;

type Reference = { readonly sources?: readonly object[]; readonly feeds?: readonly object[] };

/** Examples of `reference` with sources. A place that needs a socket is replaced by the exchange, and files by one here. */
function examples(): readonly Reference[] {
  const dir = folders.fresh();
  mkdirSync(dir, { recursive: true });
  const file = join(dir, 'price');
  writeFileSync(file, '1200000');
  const page = readFileSync(new URL('../../../docs/reference-price.md', import.meta.url), 'utf8');
  return [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, text = '']) => {
    const { reference } = parse(text) as { reference?: Reference };
    if (reference?.sources === undefined) return [];
    const { sources, feeds = [] } = reference;
    const here = JSON.parse(
      JSON.stringify(sources, (key, value: unknown) =>
        key === 'from' && typeof value === 'object' && value !== null && !('feed' in value) ? 'exchange' : value,
      ),
    ) as readonly object[];
    // The comparison of sources has laws of its own; with the places replaced, two sources may be one.
    const apart = { divergenceMaxBps: 4_999, sourcesMin: 1, everyMs: 8_000 };
    return [{ ...reference, ...apart, sources: here, feeds: feeds.map(one => ({ ...one, file })) }];
  });
}

const statesIn = (dir: string) =>
  explain({ dir, at: null }).sources.map(({ name, notUsed }) => `${name}: ${notUsed?.split(' (')[0] ?? 'used'}`);
function settled(promise: Promise<unknown>): () => boolean {
  let isOver = false;
  const end = () => void (isOver = true);
  promise.then(end, end);
  return () => isOver;
}
const TIMING = { timing: { bookPollMs: 2_500 } };

test('each source of the pages is usable within 30 s, on the embedded exchange and on paper', async () => {
  const all = examples();
  expect(all.length).toBeGreaterThan(1);
  for (const [i, reference] of all.entries()) {
    const world = worldOf(72 + i, { reference, ...TIMING });
    const running = await started(world);
    await world.clock.advance(WITHIN_MS);
    const embedded = statesIn(world.config.state.dir);
    await running.stop();
    world.end();
    // On paper, every book but the traded one is read from the followed exchange alone.
    const more = { reference, ...TIMING };
    const paper = await paperWorld({ seed: 5 + i, stream: false, more, followed: more });
    await paper.clock.advance(WITHIN_MS);
    const onPaper = statesIn(paper.stateDir);
    const { config, venue } = paper.paper;
    const preview = check(config, venue, paper.clock, 9, undefined);
    await advanceUntil(paper.clock, 500, settled(preview));
    // A preview counts an unknown basis as 0, so that each source is used.
    expect((await preview).text).not.toMatch(/sources used, at least/);
    await paper.end();
    for (const states of [embedded, onPaper]) {
      expect(states).toHaveLength(reference.sources!.length);
      // A basis takes longer than that.
      for (const state of states) expect(state).toMatch(/: (used|no basis)$/);
    }
  }
});
