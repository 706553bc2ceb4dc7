import { describe, expect, it } from 'vitest';
import { settle } from '../../../src/core/index.ts';
import { lanes, type Lane } from '../../../src/exchange/transport/lanes.ts';

/** Tasks that note their start and end when told. */
function work(oneByOne: boolean, concurrency = 1) {
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = lanes({ concurrency, waitingMax: 4 }, oneByOne);
  const add = (lane: Lane, name: string, wanted = true) =>
    run.run(
      lane,
      () => {
        started.push(name);
        return new Promise<string>(resolve => ends.push(() => resolve(name)));
      },
      () => wanted,
    );
  return { started, add, endNext: async () => (ends.shift()?.(), settle()) };
}

describe('the lanes', () => {
  it('serve place before private read before public read', async () => {
    const { started, add, endNext } = work(false);
    void add('public read', 'blocker');
    void add('public read', 'public');
    void add('private read', 'private');
    void add('place', 'place');
    for (let i = 0; i < 4; i++) await endNext();
    expect(started).toEqual(['blocker', 'place', 'private', 'public']);
  });

  it('never let a cancel wait behind anything else', async () => {
    const { started, add } = work(false);
    void add('place', 'hanging place');
    void add('place', 'waiting place');
    void add('cancel', 'cancel');
    await settle();
    expect(started).toEqual(['hanging place', 'cancel']);
  });

  it('run one by one, cancels first, when nonces must arrive in order', async () => {
    const { started, add, endNext } = work(true, 8);
    void add('place', 'first');
    void add('place', 'place');
    void add('cancel', 'cancel');
    await settle();
    expect(started).toEqual(['first']);
    for (let i = 0; i < 3; i++) await endNext();
    expect(started).toEqual(['first', 'cancel', 'place']);
  });

  it('drop what is no longer wanted and what is too many', async () => {
    const { started, add, endNext } = work(false);
    void add('place', 'first');
    const stale = add('place', 'stale', false);
    const rest = [1, 2, 3].map(n => add('private read', `read ${n}`));
    expect(await add('place', 'one too many')).toBeNull();
    for (let i = 0; i < 5; i++) await endNext();
    expect(await stale).toBeNull();
    expect(await Promise.all(rest)).toEqual(['read 1', 'read 2', 'read 3']);
    expect(started).toEqual(['first', 'read 1', 'read 2', 'read 3']);
  });

  it.each([
    ['place', false, 8],
    ['cancel', false, 8],
    ['place', true, 1],
    ['cancel', true, 1],
  ] as const)(
    'run of %s (one by one: %s) at most %i at a time by default, and let a thousand wait',
    async (lane, oneByOne, most) => {
      const both = lanes({}, oneByOne);
      let running = 0;
      const hang = () =>
        both.run(
          lane,
          () => {
            running++;
            return new Promise<never>(() => undefined);
          },
          () => true,
        );
      for (let n = 0; n < most + 1_000; n++) void hang();
      await settle();
      expect(running).toBe(most);
      expect(await hang()).toBeNull();
    },
  );

  it('count the cancels apart from the rest', async () => {
    const both = lanes({ concurrency: 2, cancelConcurrency: 3 }, false);
    const running = { cancel: 0, place: 0 };
    for (let n = 0; n < 5; n++)
      for (const lane of ['cancel', 'place'] as const)
        void both.run(
          lane,
          () => {
            running[lane]++;
            return new Promise<never>(() => undefined);
          },
          () => true,
        );
    await settle();
    expect(running).toEqual({ cancel: 3, place: 2 });
  });
});
