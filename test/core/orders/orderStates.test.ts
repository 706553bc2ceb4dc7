import { describe, expect, it } from 'vitest';
import { isInBook, mayLive, type Order } from '../../../src/core/orders/orders.ts';
import { nextState, type OrderInput, type OrderState } from '../../../src/core/orders/orderStates.ts';

/** The table as the documents of the design have it: one line per state, one column per input; `!` for what only a defect can cause. */
const TABLE = `
from       | send    accept   refuse  lose     see      fill     fill-all cancel    close  settle
intent     | sending !        done    unknown  open     part     done     canceling closed !
sending    | !       open     done    unknown  open     part     done     canceling closed !
open       | !       open     !       open     open     part     done     canceling closed !
part       | !       part     !       part     part     part     done     canceling closed !
canceling  | !       canceling done   unknown  canceling canceling done   canceling closed !
unknown    | !       open     done    unknown  open     part     done     unknown   closed !
closed     | !       closed   !       closed   open     closed   done     closed    closed done
done       | !       done     done    done     open     done     done     done      done   done
`;
const stateOf = (word: string): OrderState =>
  word === 'part' ? 'partially filled' : word === 'closed' ? 'closed-unsettled' : (word as OrderState);
const [head, ...rows] = TABLE.trim()
  .split('\n')
  .map(line => line.split(/[\s|]+/).filter(word => word !== ''));

describe('the states of an order', () => {
  it.each(rows)('follow the table from %s', (from, ...nexts) => {
    const found = head!.slice(1).map(input => nextState(stateOf(from), input.replace('-', ' ') as OrderInput));
    expect(found).toEqual(nexts.map(word => (word === '!' ? null : stateOf(word))));
  });

  it('say which orders may be live, and which are in the book and not being canceled', () => {
    const states = rows.map(([from]) => stateOf(from!));
    expect(states.filter(state => isInBook({ state }))).toEqual(['open', 'partially filled']);
    const over = states.filter(state => !mayLive({ state } as Order));
    expect(over).toEqual(['closed-unsettled', 'done']);
  });

  it('never leave the end for anything but a sighting, and no evidence from outside is impossible once the order is sent', () => {
    const states = rows.map(([from]) => stateOf(from!));
    for (const input of ['accept', 'lose', 'fill', 'fill all', 'cancel', 'close'] as const)
      expect([input, nextState('done', input)]).toEqual([input, 'done']);
    for (const state of states.filter(one => one !== 'intent'))
      for (const input of ['accept', 'lose', 'see', 'fill', 'fill all', 'cancel', 'close'] as const)
        expect([state, input, nextState(state, input)]).not.toContain(null);
  });
});
