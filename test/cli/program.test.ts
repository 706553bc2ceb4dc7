import { afterAll, expect, test } from 'vitest';
import { Bench, endPrograms, puntas } from './program.ts';

const bench = new Bench();
afterAll(() => bench.clear());

test('programs that a test leaves running, or has stopped, are ended', async () => {
  const [bot, held] = [puntas(['run', '-c', bench.config()]), puntas(['run', '-c', bench.config()])];
  await Promise.all([bot.sees(/"msg"/), held.sees(/"msg"/)]);
  held.signal('SIGSTOP');
  await endPrograms();
  for (const { pid, ended } of [bot, held]) {
    expect((await ended).code).toBeNull();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  }
  // Nothing is left to end.
  await endPrograms();
});
