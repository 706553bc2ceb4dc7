/**
 * Hedger's handling of the operator's flatten request: detects a new request, supplies its hedge rules, and ends it.
 */
import { money, moneyOfValue, textOfMoney, type HedgeRules } from '../core/index.ts';
import type { HedgerOptions } from './setup.ts';
import type { HedgeView } from './view.ts';

type FlatteningOptions = Pick<HedgerOptions, 'flatten' | 'pair'> & {
  readonly run: Pick<HedgerOptions['run'], 'log'>;
  readonly setup: { readonly rules: Pick<HedgeRules, 'costMaxBps'> };
};

const NOTHING = money(0n);
const ONE = 10n ** 18n;

export class Flattening {
  readonly #options: FlatteningOptions;
  #seen: string | null = null;

  constructor(options: FlatteningOptions) {
    this.#options = options;
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
   * Returns true if no order of this book could close the remaining inventory at the worst accepted price. If true,
   * ends the request and logs the reason.
   */
  isDone({ inventory, instrument, mid }: HedgeView): boolean {
    const { flatten, pair, run, setup } = this.#options;
    const size = inventory < 0n ? -inventory : inventory;
    const worth = (((size * mid) / ONE) * BigInt(Math.floor(10_000 - setup.rules.costMaxBps))) / 10_000n;
    const isOrder =
      size / instrument.lotMoney >= BigInt(instrument.amountMin) &&
      worth >= moneyOfValue(instrument, instrument.valueMin);
    if (isOrder) return false;
    const rest =
      size === 0n
        ? ''
        : `, except for ${textOfMoney(inventory)} ${pair.major}; an order of this amount would be too small`;
    const why = `inventory is at its target${rest}`;
    if (flatten?.end(why) === true) run.log.info({}, `flatten: ${why}`);
    return true;
  }
}
