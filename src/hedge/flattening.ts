/**
 * Hedger's handling of the operator's flatten request: detects a new request, supplies its hedge rules, and ends it.
 */
import { money, textOfMoney, type HedgeRules } from '../core/index.ts';
import type { ElsewhereRoute } from './elsewhereRoute.ts';
import { isBelowOrderMinimum } from './orderMinimum.ts';
import { hasRoutesHere, type HedgerOptions, type HedgeSetup } from './setup.ts';
import type { HedgeInputs } from './hedgeInputs.ts';

type FlatteningOptions = Pick<HedgerOptions, 'flatten' | 'pair'> & {
  readonly run: Pick<HedgerOptions['run'], 'log'>;
  readonly setup: Pick<HedgeSetup, 'venues' | 'routes'> & { readonly rules: Pick<HedgeRules, 'costMaxBps'> };
};

const NOTHING = money(0n);
const ONE = money(10n ** 18n);

export class Flattening {
  readonly #options: FlatteningOptions;
  readonly #elsewhere: Pick<ElsewhereRoute, 'isBelowMinimum'> | null;
  #seen: string | null = null;

  /** `elsewhere` has the hedges on another exchange; `null` if there are none. */
  constructor(options: FlatteningOptions, elsewhere: Pick<ElsewhereRoute, 'isBelowMinimum'> | null = null) {
    this.#options = options;
    this.#elsewhere = elsewhere;
  }

  get request() {
    return this.#options.flatten?.current() ?? null;
  }

  /** Rules that hedge all inventory. */
  get rules(): Pick<HedgeRules, 'band' | 'residual'> {
    return { band: NOTHING, residual: NOTHING };
  }

  /** Returns `true` at the first call after each new flatten request; otherwise `false`. */
  isNew(): boolean {
    const id = this.request?.id ?? null;
    const before = this.#seen;
    this.#seen = id;
    return id !== null && id !== before;
  }

  /**
   * Returns true if no order of a configured route could close the remaining inventory at the worst accepted price. If
   * true, ends the request and logs the reason. For a hedge on the bot's own exchange, the minimum of its book counts.
   */
  isDone({ inventory, instrument, mid }: HedgeInputs): boolean {
    const { flatten, pair, run, setup } = this.#options;
    const { costMaxBps } = setup.rules;
    const size = inventory < 0n ? -inventory : inventory;
    const isOrderHere = hasRoutesHere(setup) && !isBelowOrderMinimum(instrument, inventory, mid, ONE, costMaxBps);
    if (isOrderHere || this.#elsewhere?.isBelowMinimum({ mid }, inventory, costMaxBps) === false) return false;
    const rest =
      size === 0n
        ? ''
        : `, except for ${textOfMoney(inventory)} ${pair.major}; an order of this amount would be too small`;
    const why = `inventory is at its target${rest}`;
    if (flatten?.end(why) === true) run.log.info({}, `flatten: ${why}`);
    return true;
  }
}
