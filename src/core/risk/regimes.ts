/**
 * Regime of the bot as one small state (normal, wide, reduce only, paused, halted), with a pure transition function.
 */
import type { RiskRefusal } from './preTradeRisk.ts';
import type { Millis } from '../model/units.ts';

/**
 * Regimes from mildest to strictest; the strictest active cause decides.
 * - normal: quotes as the strategy wants.
 * - wide: quotes with a wider spread.
 * - reduce only: only orders that bring inventory back to its target.
 * - paused: no new orders until the cause ends. An error of a strategy file is such a cause.
 * - halted: no orders until the operator resumes.
 */
export const REGIMES = ['normal', 'wide', 'reduce only', 'paused', 'halted'] as const;
export type Regime = (typeof REGIMES)[number];

/** Market trigger of a wider spread. */
export type WideReason = 'the price moves fast' | 'the market is wide' | 'the book is thin';

/** Cause that stays active until its trigger has been absent for a configured time. */
export type LingeringCause = {
  readonly why: string;
  /** Time since which the trigger has been absent; `null` while the trigger is present. */
  readonly calmSince: Millis | null;
};

export type RegimeState = {
  readonly regime: Regime;
  readonly since: Millis;
  readonly why: string;
  /** Reason for the halt; `null` if not halted. Only a resume ends a halt; later reasons do not replace the first. */
  readonly halt: string | null;
  /** Reason for the operator's pause; `null` if not paused. The reason is cleared only at the end of the pause. */
  readonly pause: string | null;
  /** Error of the strategy file, with the remedy; `null` if its last call returned a valid quote. */
  readonly failure: string | null;
  /** Reason for reduce-only until a resume or a `reduced` event; null if none. */
  readonly reduce: string | null;
  /** Reason why balances are unknown; null if they are known. Until the next successful read the bot is reduce-only. */
  readonly unread: string | null;
  readonly near: LingeringCause | null;
  readonly wide: LingeringCause | null;
  /** Reason why the bot may not place new orders; `null` if it may. */
  readonly refusal: RiskRefusal | null;
};

export type RegimeEvent =
  | { readonly kind: 'halt' | 'pause' | 'reduce'; readonly at: Millis; readonly reason: string }
  | { readonly kind: 'resume' | 'pause over' | 'reduced'; readonly at: Millis }
  /** Result of a balance read: `unread` is `null` if the read succeeded. */
  | { readonly kind: 'balances'; readonly at: Millis; readonly unread: string | null }
  /** Result of a call of the strategy: `failure` is `null` if it returned a quote. */
  | { readonly kind: 'strategy'; readonly at: Millis; readonly failure: string | null }
  | RegimeLook;

/**
 * Inputs of one decision. A ratio is a measured value divided by its threshold; the trigger applies at 1 and above. NaN
 * means that the ratio is unknown.
 */
export type RegimeLook = {
  readonly kind: 'look';
  readonly at: Millis;
  readonly refusal: RiskRefusal | null;
  /** Largest ratio among the market triggers. `wideWhy` is the reason of the trigger with this ratio. */
  readonly wide: number;
  readonly wideWhy: string;
  /** Ratio of the inventory to the inventory at which reduce-only starts. */
  readonly near: number;
  /** Reason for reduce-only through losses, with the loss; `null` if none. */
  readonly loss: string | null;
};

export type Hysteresis = {
  /** Ratio below which a trigger counts as absent; less than 1. */
  readonly leaveShare: number;
  /** Time for which the market must be calm before the spread narrows again. */
  readonly calmMs: Millis;
};

export const firstRegime: RegimeState = {
  regime: 'paused',
  since: -Infinity,
  why: 'not ready',
  halt: null,
  pause: null,
  failure: null,
  reduce: null,
  unread: null,
  near: null,
  wide: null,
  refusal: 'not ready',
};

/** Returns the next regime, without side effects. Returns the same object if nothing changed. */
export function nextRegime(state: RegimeState, event: RegimeEvent, rules: Hysteresis): RegimeState {
  switch (event.kind) {
    case 'halt':
      return state.halt === null ? withRegime({ ...state, halt: event.reason }, event.at) : state;
    case 'pause':
      // A new pause replaces the first, because the new pause may end at another time.
      return state.pause === event.reason ? state : withRegime({ ...state, pause: event.reason }, event.at);
    case 'pause over':
      return state.pause === null ? state : withRegime({ ...state, pause: null }, event.at);
    case 'reduce':
      return state.reduce === null ? withRegime({ ...state, reduce: event.reason }, event.at) : state;
    case 'reduced':
      return state.reduce === null ? state : withRegime({ ...state, reduce: null }, event.at);
    case 'balances':
      return state.unread === event.unread ? state : withRegime({ ...state, unread: event.unread }, event.at);
    case 'strategy':
      return state.failure === event.failure ? state : withRegime({ ...state, failure: event.failure }, event.at);
    case 'resume':
      return state.halt === null && state.reduce === null
        ? state
        : withRegime({ ...state, halt: null, reduce: null }, event.at);
    case 'look': {
      const { at, refusal } = event;
      const wide = nextCause(state.wide, event.wide, event.wideWhy, at, rules.leaveShare, rules.calmMs);
      // Inventory changes less often than the market, so the cause needs hysteresis but no calm time.
      const near = nextCause(state.near, event.near, 'inventory is near its limit', at, rules.leaveShare, 0);
      const reduce = state.reduce ?? event.loss;
      if (refusal === state.refusal && wide === state.wide && near === state.near && reduce === state.reduce)
        return state;
      return withRegime({ ...state, refusal, wide, near, reduce }, at);
    }
  }
}

/** Whether a cause of reduce-only is active, even if a stricter regime such as a pause hides it. */
export const isReduceOnly = ({ reduce, unread, near }: RegimeState): boolean =>
  reduce !== null || unread !== null || near !== null;

function nextCause(
  before: LingeringCause | null,
  load: number,
  why: string,
  at: Millis,
  leaveShare: number,
  calmMs: Millis,
): LingeringCause | null {
  if (before === null) return load >= 1 ? { why, calmSince: null } : null;
  // While the ratio is unknown, the cause continues.
  if (!(load < leaveShare)) return before.calmSince === null ? before : { why: before.why, calmSince: null };
  const since = before.calmSince ?? at;
  if (at - since >= calmMs) return null;
  return before.calmSince === null ? { why: before.why, calmSince: at } : before;
}

/** Sets the regime that follows from the causes. `since` changes with the regime or its reason. */
function withRegime(state: RegimeState, at: Millis): RegimeState {
  const [regime, why] = strictestCause(state);
  return regime === state.regime && why === state.why ? state : { ...state, regime, why, since: at };
}

function strictestCause({
  halt,
  pause,
  failure,
  refusal,
  reduce,
  unread,
  near,
  wide,
}: RegimeState): readonly [Regime, string] {
  if (halt !== null) return ['halted', halt];
  if (pause !== null) return ['paused', pause];
  // Only the operator can end a failure, but a refusal often ends without help.
  if (failure !== null) return ['paused', failure];
  if (refusal !== null) return ['paused', refusal];
  if (reduce !== null) return ['reduce only', reduce];
  if (unread !== null) return ['reduce only', unread];
  if (near !== null) return ['reduce only', near.why];
  if (wide !== null) return ['wide', wide.why];
  return ['normal', 'no restriction applies'];
}
