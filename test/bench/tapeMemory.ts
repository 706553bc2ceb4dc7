/** A long bench of its own: the golden run over a stored tape of 100 million events, and the memory that the process has while it runs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runGolden } from '../scripts/goldenRun.ts';
import { openStoredTape, TapeWriter, type StoredTape } from '../../src/tape/index.ts';
import { REFERENCE_RULES } from '../scripts/referenceRules.ts';
import { storeEventFile } from '../scripts/eventFile.ts';
import { windowOfTape } from '../scripts/windowOfTape.ts';

const BENCH = process.env['PUNTAS_BENCH'] ?? '../shared/bench';
const MILLION = 1_000_000;
const EVENTS = 10 * MILLION;
const REPETITIONS = Math.max(1, Math.round(Number(process.argv[2] ?? 100) / 10));

const resident = (): number => Math.round(process.memoryUsage.rss() / MILLION);

const dir = mkdtempSync(join(tmpdir(), 'puntas-tape-memory-'));
try {
  execFileSync(process.execPath, [join(BENCH, 'gen-tape.mjs'), String(EVENTS), join(dir, 'tape')]);
  const writer = new TapeWriter({ dir, rules: REFERENCE_RULES, lot: '0.001', source: 'the reference tape, repeated' });
  storeEventFile(join(dir, 'tape.bin'), writer, REPETITIONS);
  writer.close();
  console.log(`written: ${writer.rows / MILLION} M events, resident ${resident()} MB`);
  const tape = openStoredTape(dir);
  console.log(`${(tape.bytes / tape.rows).toFixed(2)} bytes a row, ${tape.days.length} days`);
  const began = performance.now();
  let seen = 0;
  const told: StoredTape = {
    ...tape,
    *chunksAhead(options) {
      for (const chunk of tape.chunksAhead(options)) {
        seen += chunk.columns.length;
        if (seen % EVENTS < chunk.columns.length)
          console.log(`${Math.round(seen / MILLION)} M events: resident ${resident()} MB`);
        yield chunk;
      }
    },
  };
  const counts = runGolden(windowOfTape(told), {
    halfSpreadTicks: 2,
    interval: 100_000,
    latency: 10_000,
    orderLots: 50,
    positionMaxLots: 1_000,
  });
  const seconds = (performance.now() - began) / 1000;
  console.log(`${counts.fills} fills, ${(tape.rows / seconds / MILLION).toFixed(1)} M events/s`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
