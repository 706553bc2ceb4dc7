import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '../../../src/core/index.ts';
import { EventQueue, EVENTS_MAX } from '../../../src/live/loop/eventQueue.ts';

/** An event with the events that its preparation and its step cause. */
type Cause = { readonly id: number; readonly before: readonly Cause[]; readonly after: readonly Cause[] };

const causes: fc.Memo<Cause> = fc.memo(depth => {
  const few = depth > 1 ? fc.array(causes(depth - 1), { maxLength: 3 }) : fc.constant([]);
  return fc.record({ id: fc.nat(), before: few, after: few });
});

const eventsOf = (roots: readonly Cause[]) => {
  const known = new Map<EngineEvent, Cause>();
  const eventOf = (cause: Cause): EngineEvent => {
    const event: EngineEvent = { kind: 'timer', at: cause.id };
    known.set(event, cause);
    return event;
  };
  return { roots: roots.map(eventOf), eventOf, causeOf: (event: EngineEvent) => known.get(event)! };
};

/** Order of steps when every put calls the step directly, as nested calls do. */
function nestedOrder({ id, before, after }: Cause): number[] {
  return [...before.flatMap(nestedOrder), id, ...after.flatMap(nestedOrder)];
}

describe('the queue of events', () => {
  test('starts no step or preparation inside another, loses none, and keeps the order of nested calls', () => {
    let nested = 0;
    fc.assert(
      fc.property(fc.array(causes(4), { minLength: 1, maxLength: 4 }), given => {
        const { roots, eventOf, causeOf } = eventsOf(given);
        const steps: number[] = [];
        let isBusy = false;
        const busy = (work: () => void): void => {
          expect(isBusy).toBe(false);
          isBusy = true;
          work();
          isBusy = false;
        };
        const queue: EventQueue = new EventQueue({
          prepare: event => busy(() => causeOf(event).before.forEach(cause => queue.put(eventOf(cause)))),
          step: event =>
            busy(() => {
              steps.push(event.at);
              causeOf(event).after.forEach(cause => queue.put(eventOf(cause)));
            }),
          onEndless: () => expect.unreachable('a finite tree is no endless one'),
        });
        for (const root of roots) queue.put(root);
        expect(steps).toEqual(given.flatMap(nestedOrder));
        if (given.some(({ before, after }) => before.length + after.length > 1)) nested++;
      }),
    );
    expect(nested).toBeGreaterThan(10);
  });

  test('gives one chance to events that never end, and takes others afterwards', () => {
    let isEndless = true;
    let isCalled = 0;
    const seen: string[] = [];
    const queue: EventQueue = new EventQueue({
      prepare: () => undefined,
      step: event => {
        seen.push(event.kind);
        if (event.kind === 'stop') isEndless = false;
        if (event.kind === 'timer' && isEndless) queue.put(event);
      },
      onEndless: () => {
        isCalled++;
        queue.put({ kind: 'stop', at: 0 });
      },
    });
    queue.put({ kind: 'timer', at: 0 });
    // The stop comes before the timer that waited.
    expect([seen.length, isCalled, seen.slice(-2)]).toEqual([EVENTS_MAX + 2, 1, ['stop', 'timer']]);
    const spinning: EventQueue = new EventQueue({
      prepare: () => undefined,
      step: event => {
        if (event.kind === 'timer') spinning.put(event);
        else seen.push('taken');
      },
      onEndless: () => undefined,
    });
    expect(() => spinning.put({ kind: 'timer', at: 0 })).toThrow(
      `one event caused more than ${2 * EVENTS_MAX} further events`,
    );
    spinning.put({ kind: 'stop', at: 0 });
    expect(seen.at(-1)).toBe('taken');
  });

  test('takes the next event after a step that threw', () => {
    const seen: number[] = [];
    const queue: EventQueue = new EventQueue({
      prepare: () => undefined,
      step: ({ at }) => {
        if (at === 0) throw new Error('a defect');
        seen.push(at);
      },
      onEndless: () => undefined,
    });
    expect(() => queue.put({ kind: 'timer', at: 0 })).toThrow('a defect');
    queue.put({ kind: 'timer', at: 1 });
    expect(seen).toEqual([1]);
  });
});
