/** States of the bot's orders, and the inputs that change them. */

/**
 * State of an order.
 * - intent: decided, not sent.
 * - sending: may have been sent.
 * - open, partially filled: accepted by the exchange.
 * - canceling: a cancel may have been sent.
 * - unknown: the answer to the placement was lost; the order may be live.
 * - closed-unsettled: no longer live, but late fills may be reported.
 * - done: finished.
 */
export type OrderState =
  'intent' | 'sending' | 'open' | 'partially filled' | 'canceling' | 'unknown' | 'closed-unsettled' | 'done';

export type OrderInput =
  'send' | 'accept' | 'refuse' | 'lose' | 'see' | 'fill' | 'fill all' | 'cancel' | 'close' | 'settle';

/** Complete transition table. `null` for a transition that only a defect in this program can cause. */
const TRANSITIONS: Record<OrderState, Record<OrderInput, OrderState | null>> = {
  intent: {
    send: 'sending',
    accept: null,
    refuse: 'done',
    lose: 'unknown',
    see: 'open',
    fill: 'partially filled',
    'fill all': 'done',
    cancel: 'canceling',
    close: 'closed-unsettled',
    settle: null,
  },
  sending: {
    send: null,
    accept: 'open',
    refuse: 'done',
    lose: 'unknown',
    see: 'open',
    fill: 'partially filled',
    'fill all': 'done',
    cancel: 'canceling',
    close: 'closed-unsettled',
    settle: null,
  },
  open: {
    send: null,
    accept: 'open',
    refuse: null,
    lose: 'open',
    see: 'open',
    fill: 'partially filled',
    'fill all': 'done',
    cancel: 'canceling',
    close: 'closed-unsettled',
    settle: null,
  },
  'partially filled': {
    send: null,
    accept: 'partially filled',
    refuse: null,
    lose: 'partially filled',
    see: 'partially filled',
    fill: 'partially filled',
    'fill all': 'done',
    cancel: 'canceling',
    close: 'closed-unsettled',
    settle: null,
  },
  canceling: {
    send: null,
    accept: 'canceling',
    refuse: 'done',
    lose: 'unknown',
    see: 'canceling',
    fill: 'canceling',
    'fill all': 'done',
    cancel: 'canceling',
    close: 'closed-unsettled',
    settle: null,
  },
  unknown: {
    send: null,
    accept: 'open',
    refuse: 'done',
    lose: 'unknown',
    see: 'open',
    fill: 'partially filled',
    'fill all': 'done',
    cancel: 'unknown',
    close: 'closed-unsettled',
    settle: null,
  },
  'closed-unsettled': {
    send: null,
    accept: 'closed-unsettled',
    refuse: null,
    lose: 'closed-unsettled',
    see: 'open',
    fill: 'closed-unsettled',
    'fill all': 'done',
    cancel: 'closed-unsettled',
    close: 'closed-unsettled',
    settle: 'done',
  },
  done: {
    send: null,
    accept: 'done',
    refuse: 'done',
    lose: 'done',
    see: 'open',
    fill: 'done',
    'fill all': 'done',
    cancel: 'done',
    close: 'done',
    settle: 'done',
  },
};

/** Returns the next state; `null` if the input is impossible in this state. */
export const nextState = (state: OrderState, input: OrderInput): OrderState | null => TRANSITIONS[state][input];
