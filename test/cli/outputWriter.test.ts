/** The writer of stdout and stderr, whatever each of its writes comes to. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OutputWriter } from '../../src/cli/terminal/outputWriter.ts';

/** Ends of one write: bytes taken, or an error. */
const outcome = fc.oneof(
  { weight: 4, arbitrary: fc.nat(40) },
  { weight: 3, arbitrary: fc.constantFrom('EAGAIN', 'EINTR') },
  { weight: 2, arbitrary: fc.constantFrom('ENOSPC', 'EIO', 'EPIPE', 'EBADF', 'EFAULT') },
);

describe('a writer of output', () => {
  test('never throws, keeps order, counts what it loses, and waits for no more than its maximum, whatever each write comes to', () => {
    fc.assert(
      fc.property(
        fc.array(outcome, { maxLength: 200 }),
        fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '0'), maxLength: 60 }), { maxLength: 40 }),
        fc.integer({ min: 0, max: 200 }),
        (outcomes, texts, queuedBytesMax) => {
          let written = '';
          const bytes: number[] = [];
          const timers: (() => void)[] = [];
          let step = 0;
          const writer = new OutputWriter({
            write: chunk => {
              const end = outcomes[step++] ?? chunk.length;
              if (typeof end === 'string') throw Object.assign(new Error(end), { code: end });
              const taken = Math.min(end, chunk.length);
              bytes.push(...chunk.subarray(0, taken));
              return taken;
            },
            after: (_, call) => void timers.push(call),
            now: () => 0,
            queuedBytesMax,
          });
          const lines = texts.map((text, i) => `${i} ${text}\n`);
          const longest = Math.max(0, ...lines.map(line => Buffer.byteLength(line)));
          for (const line of lines) {
            writer.write(line);
            expect(writer.queuedBytes).toBeLessThanOrEqual(Math.max(queuedBytesMax, longest));
            expect(timers.length).toBeLessThanOrEqual(1);
            if (step % 3 === 0) timers.shift()?.();
          }
          while (timers.length > 0) timers.shift()!();
          expect(writer.queuedBytes).toBe(0);
          written = Buffer.from(bytes).toString();
          const whole = written
            .split('\n')
            .flatMap(row => (lines.includes(`${row}\n`) ? [lines.indexOf(`${row}\n`)] : []));
          // A line whose end alone was lost counts as lost, and the next one ends it.
          expect(whole.length + writer.lost).toBeGreaterThanOrEqual(lines.length);
          if (outcomes.every(end => typeof end === 'number' || /AGAIN|INTR/.test(end)))
            expect(whole.length + writer.lost).toBe(lines.length);
          expect(writer.lastCode === null).toBe(writer.lost === 0);
          expect(whole).toEqual([...new Set(whole)].toSorted((a, b) => a - b));
        },
      ),
    );
  });

  test('reports what was lost before the next line that is written, once', () => {
    let isFull = true;
    let written = '';
    const writer = new OutputWriter({
      write: chunk => {
        if (isFull) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        written += Buffer.from(chunk).toString();
        return chunk.length;
      },
      after: () => undefined,
      now: () => 0,
      queuedBytesMax: 10,
    });
    const describe = (count: number, code: string) => `lost ${count} (${code})\n`;
    for (const line of ['a\n', 'b\n']) writer.write(line, describe);
    isFull = false;
    for (const line of ['c\n', 'd\n']) writer.write(line, describe);
    expect([written, writer.lost, writer.lastCode]).toEqual(['lost 2 (ENOSPC)\nc\nd\n', 2, 'ENOSPC']);
  });

  test('settles when everything is written, and gives up where nothing is taken', async () => {
    let [time, taken] = [0, 0];
    const writer = new OutputWriter({
      write: () => {
        if (taken-- > 0) return 1;
        throw Object.assign(new Error('full'), { code: 'EAGAIN' });
      },
      after: (ms, call) => {
        time += ms;
        queueMicrotask(call);
      },
      now: () => time,
      queuedBytesMax: 10,
    });
    writer.write('abc\n');
    await writer.settle(1_000);
    expect([writer.lost, writer.queuedBytes, time >= 1_000]).toEqual([1, 0, true]);
    taken = 9;
    writer.write('abc\n');
    await writer.settle(1_000);
    expect([writer.lost, writer.queuedBytes]).toEqual([1, 0]);
  });
});
