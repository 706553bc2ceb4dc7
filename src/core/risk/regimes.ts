/** What the bot may do now, as one small state: normal, wide, reduce only, paused or halted; and the pure function that changes it. */
import type { RiskRefusal } from './preTradeRisk.ts';
import type { Millis } from '../model/units.ts';

/**
 * From the mildest to the hardest; of several causes the hardest counts. normal: quotes as the strategy says. wide: the same with a wider
 * spread. reduce only: only what brings inventory back to its target. paused: nothing new is placed, until the reason is over. halted: nothing
 * until a person resumes.
 */
export const REGIMES = ['normal', 'wide', 'reduce only', 'paused', 'halted'] as const;
export type Regime = (typeof REGIMES)[number];

/** What of the market makes the spread wide. */
export type WideWhy = 'the price moves fast' | 'the market is wide' | 'the book is thin';

/** A cause that has come and goes only when it has been away for a while. */
export type Held = {
  readonly why: string;
  /** Since when it has been away; null while it is there. */
  readonly calmSince: Millis | null;
};

export type RegimeState = {
  readonly regime: Regime;
  readonly since: Millis;
  readonly why: string;
  /** Why trading is halted. Only a resume lifts it; the first reason stays. */
  readonly halt: string | null;
  /** Why a person lets nothing be quoted for now. Nothing else ends it than its own end, and that ends nothing else. */
  readonly pause: string | null;
  /** Why only inventory is closed until a resume. */
  readonly reduce: string | null;
  /** Why the account's balances are not known for now; only inventory is closed until they are read again. */
  readonly unread: string | null;
  readonly near: Held | null;
  readonly wide: Held | null;
  /** Why nothing new may be placed for now. */
  readonly refusal: RiskRefusal | null;
};

export type RegimeEvent =
  | { readonly kind: 'halt' | 'pause' | 'reduce'; readonly at: Millis; readonly reason: string }
  | { readonly kind: 'resume' | 'pause over' | 'reduced'; readonly at: Millis }
  /** `null`: the balances were read. */
  | { readonly kind: 'balances'; readonly at: Millis; readonly unread: string | null }
  | RegimeLook;

/** What a decision sees. Loads are shares of what is too much: 1 and more is, NaN is not known. */
export type RegimeLook = {
  readonly kind: 'look';
  readonly at: Millis;
  readonly refusal: RiskRefusal | null;
  /** Of the market, and which sign of it is the largest. */
  readonly wide: number;
  readonly wideWhy: string;
  /** Of inventory, on its way to the limit. */
  readonly near: number;
  /** Of losses; the words say how much. */
  readonly loss: string | null;
};

export type Hysteresis = {
  /** A cause is away when its load is below this share of where it comes; below 1. */
  readonly leaveShare: number;
  /** The market must have been calm for so long before the spread is narrow again. */
  readonly calmMs: Millis;
};

export const firstRegime: RegimeState = {
  regime: 'paused',
  since: -Infinity,
  why: 'not ready',
  halt: null,
  pause: null,
  reduce: null,
  unread: null,
  near: null,
  wide: null,
  refusal: 'not ready',
};

/** Pure; the same object when nothing has changed. */
export function nextRegime(state: RegimeState, event: RegimeEvent, rules: Hysteresis): RegimeState {
  switch (event.kind) {
    case 'halt':
      return state.halt === null ? settled({ ...state, halt: event.reason }, event.at) : state;
    case 'pause':
      // A second one replaces the first: its end is another.
      return state.pause === event.reason ? state : settled({ ...state, pause: event.reason }, event.at);
    case 'pause over':
      return state.pause === null ? state : settled({ ...state, pause: null }, event.at);
    case 'reduce':
      return state.reduce === null ? settled({ ...state, reduce: event.reason }, event.at) : state;
    case 'reduced':
      return state.reduce === null ? state : settled({ ...state, reduce: null }, event.at);
    case 'balances':
      return state.unread === event.unread ? state : settled({ ...state, unread: event.unread }, event.at);
    case 'resume':
      return state.halt === null && state.reduce === null
        ? state
        : settled({ ...state, halt: null, reduce: null }, event.at);
    case 'look': {
      const { at, refusal } = event;
      const wide = held(state.wide, event.wide, event.wideWhy, at, rules.leaveShare, rules.calmMs);
      // Inventory does not flicker as a market does: the distance between coming and going is enough.
      const near = held(state.near, event.near, 'inventory is near its limit', at, rules.leaveShare, 0);
      const reduce = state.reduce ?? event.loss;
      if (refusal === state.refusal && wide === state.wide && near === state.near && reduce === state.reduce)
        return state;
      return settled({ ...state, refusal, wide, near, reduce }, at);
    }
  }
}

/** Of the causes, not of the regime: true as well while something harder, such as a pause, stands above it. */
export const isReduceOnly = ({ reduce, unread, near }: RegimeState): boolean =>
  reduce !== null || unread !== null || near !== null;

function held(
  before: Held | null,
  load: number,
  why: string,
  at: Millis,
  leaveShare: number,
  calmMs: Millis,
): Held | null {
  if (before === null) return load >= 1 ? { why, calmSince: null } : null;
  // What is not known is not calm.
  if (!(load < leaveShare)) return before.calmSince === null ? before : { why: before.why, calmSince: null };
  const since = before.calmSince ?? at;
  if (at - since >= calmMs) return null;
  return before.calmSince === null ? { why: before.why, calmSince: at } : before;
}

/** With the regime that follows from the causes; `since` moves when it or its reason is another. */
function settled(state: RegimeState, at: Millis): RegimeState {
  const [regime, why] = hardest(state);
  return regime === state.regime && why === state.why ? state : { ...state, regime, why, since: at };
}

function hardest({ halt, pause, refusal, reduce, unread, near, wide }: RegimeState): readonly [Regime, string] {
  if (halt !== null) return ['halted', halt];
  if (pause !== null) return ['paused', pause];
  if (refusal !== null) return ['paused', refusal];
  if (reduce !== null) return ['reduce only', reduce];
  if (unread !== null) return ['reduce only', unread];
  if (near !== null) return ['reduce only', near.why];
  if (wide !== null) return ['wide', wide.why];
  return ['normal', 'nothing stands against it'];
}
