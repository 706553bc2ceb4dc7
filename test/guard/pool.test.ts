import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Pool } from '../../src/guard/index.ts';

const moves = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), sender: fc.constantFrom('a', 'b', 'c') }) },
    fc.record({ kind: fc.constantFrom('busy' as const, 'idle' as const, 'gone' as const), of: fc.nat(60) }),
  ),
  { maxLength: 120 },
);
const limits = fc.record({
  all: fc.integer({ min: 1, max: 8 }),
  sender: fc.integer({ min: 1, max: 8 }),
  keepsBusy: fc.boolean(),
});

/** Plays moves on a pool, beside a plain list of what each did. */
function played(
  of: { all: number; sender: number; keepsBusy: boolean },
  list: typeof moves extends fc.Arbitrary<infer T> ? T : never,
) {
  const pool = new Pool<number>(of);
  const open = new Map<number, { sender: string; isBusy: boolean; since: number }>();
  const closed: { key: number; isBusy: boolean; anIdleOneLeft: boolean; heldMost: boolean }[] = [];
  let [next, time] = [0, 0];
  for (const move of list) {
    time++;
    if (move.kind === 'add') {
      const key = next++;
      const close = (): void => {
        const { sender, isBusy } = open.get(key)!;
        open.delete(key);
        const held = (name: string) => [...open.values()].filter(each => each.sender === name).length;
        closed.push({
          ...{ key, isBusy },
          anIdleOneLeft: [...open.values()].some(each => each.sender === sender && !each.isBusy),
          heldMost: ['a', 'b', 'c'].every(name => held(name) <= held(sender) + 1) || held(sender) + 1 >= of.sender,
        });
      };
      if (pool.add(key, move.sender, close)) open.set(key, { sender: move.sender, isBusy: false, since: time });
      else expect([...open.values()].some(each => !each.isBusy && each.sender === move.sender)).toBe(false);
      continue;
    }
    const member = open.get(move.of);
    if (member === undefined) continue;
    if (move.kind === 'gone') {
      open.delete(move.of);
      pool.delete(move.of);
    } else {
      member.isBusy = move.kind === 'busy';
      member.since = time;
      pool.mark(move.of, member.isBusy);
    }
  }
  return { pool, open, closed };
}

describe('a pool', () => {
  test('never holds more than its limits, and counts exactly what is open', () => {
    fc.assert(
      fc.property(limits, moves, (of, list) => {
        const { pool, open } = played(of, list);
        expect(pool.size).toBe(open.size);
        expect(open.size).toBeLessThanOrEqual(of.all);
        for (const sender of ['a', 'b', 'c'])
          expect([...open.values()].filter(each => each.sender === sender).length).toBeLessThanOrEqual(of.sender);
      }),
    );
  });

  test('closes a member at work only where no silent one of its sender is left, and never where it keeps them', () => {
    fc.assert(
      fc.property(limits, moves, (of, list) => {
        for (const each of played(of, list).closed)
          if (each.isBusy) expect([of.keepsBusy, each.anIdleOneLeft]).toEqual([false, false]);
      }),
    );
  });

  test('takes room from the sender that holds most, so that one who holds everything keeps nobody out', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 1, max: 200 }), (all, flood) => {
        const pool = new Pool<string>({ all });
        const closed: string[] = [];
        const add = (key: string, sender: string) => pool.add(key, sender, () => closed.push(key));
        for (let n = 0; n < flood; n++) add(`flood ${n}`, 'flood');
        expect(add('probe', 'probe')).toBe(true);
        for (let n = 0; n < flood; n++) add(`more ${n}`, 'flood');
        expect(closed).not.toContain('probe');
      }),
    );
  });

  test('closes the one that was silent for longest', () => {
    const closed: string[] = [];
    const pool = new Pool<string>({ all: 3 });
    for (const key of ['a', 'b', 'c']) pool.add(key, 'x', () => closed.push(key));
    pool.mark('a', true);
    pool.mark('a', false);
    pool.mark('b', true);
    for (const key of ['d', 'e', 'f']) pool.add(key, 'x', () => closed.push(key));
    expect(closed).toEqual(['c', 'a', 'd']);
  });
});
