/**
 * A desk at the exchange's end, small enough to be believed: it quotes at a middle, keeps what it carried out, and answers as
 * the test tells it to.
 */
import {
  money,
  moneyOf,
  textOfMoney,
  type Clock,
  type ConversionDesk,
  type ConversionOffer,
  type ConversionPair,
  type ConversionState,
  type ConversionWay,
  type Outcome,
} from '../../src/core/index.ts';

/** Fate of an acceptance: carried out and told, not told, in part of the time, never, or refused. */
export type AcceptFate =
  'told' | 'untold' | 'pending' | 'pending, then failed' | 'lost' | 'refused' | 'executed before' | 'long after';
type Asked = Parameters<ConversionDesk['offer']>[1] & { readonly way: ConversionWay };
type Execution = { -readonly [K in keyof ConversionState]: ConversionState[K] } & {
  readonly quote: string;
  readonly way: ConversionWay;
};

const ONE = 10n ** 18n;

export class ToyDesk implements ConversionDesk {
  readonly #clock: Clock;
  /** Quote currency per unit, and what the desk keeps of each conversion. */
  prices: Record<string, bigint> = { btc: 1_000n * ONE, usd: 20n * ONE, mxn: ONE };
  spreadBps = 10n;
  /** Share that it gives back, by pair such as `btc usd`. */
  bonusBps: Record<string, bigint> = {};
  lifeMs = 30_000;
  answerMs = 0;
  /** Time until a pending conversion ends. */
  pendingMs = 7_000;
  /** Most that can be confirmed, by currency; `null`: it says only that it is too much. */
  most: Record<string, bigint | null> = {};
  decimals: Record<string, number> = { btc: 0, usd: 2, mxn: 4 };
  fateOfAccept: () => AcceptFate = () => 'told';
  fateOfOffer: () => 'told' | 'refused' | 'unknown' = () => 'told';
  canLook = true;
  /** Whether lists omit conversions that it has shown or confirmed before. */
  omitsShown = false;
  readonly #shown = new Set<string>();
  pairsAre: 'told' | 'unknown' = 'told';
  readonly asked: Asked[] = [];
  readonly offers = new Map<string, ConversionOffer & { readonly at: number }>();
  readonly accepted: string[] = [];
  /** Delays an acceptance before its client sends it, as a wait for request budget does. */
  beforeAccept = (): Promise<void> => Promise.resolve();
  readonly executed: Execution[] = [];
  readonly calls: string[] = [];
  onAccept: (offer: ConversionOffer) => void = () => undefined;
  #count = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async pairs(): Promise<Outcome<readonly ConversionPair[]>> {
    this.calls.push('pairs');
    await this.#wait();
    if (this.pairsAre === 'unknown') return { kind: 'unknown', reason: 'no answer' };
    const names = Object.keys(this.decimals);
    const value = names.flatMap(from =>
      names
        .filter(to => to !== from)
        .map(to => ({ from, to, fromDecimals: this.decimals[from]!, toDecimals: this.decimals[to]! })),
    );
    return { kind: 'done', value };
  }

  async offer(way: ConversionWay, ask: Parameters<ConversionDesk['offer']>[1]): Promise<Outcome<ConversionOffer>> {
    this.calls.push('offer');
    this.asked.push({ way, ...ask });
    const at = this.#clock.elapsed();
    await this.#wait();
    const fate = this.fateOfOffer();
    if (fate === 'refused') return { kind: 'refused', code: '0379', message: 'not now' };
    if (fate === 'unknown') return { kind: 'unknown', reason: 'no answer' };
    const [from, to] = [this.prices[ask.from]!, this.prices[ask.to]!];
    const keeps = 10_000n - this.spreadBps + (this.bonusBps[`${ask.from} ${ask.to}`] ?? 0n);
    const given = ask.give === undefined ? null : moneyOf(ask.give);
    const gotten = given === null ? moneyOf(ask.get!) : (((given * from) / to) * keeps) / 10_000n;
    const gives = given ?? (gotten * to * 10_000n) / from / keeps + 1n;
    const limits = [
      [ask.from, gives],
      [ask.to, gotten],
    ] as const;
    const over = limits.find(([currency, sum]) => {
      const most = this.most[currency];
      return most !== undefined && (most === null || sum > most);
    });
    const most = over && this.most[over[0]];
    const offer = {
      ...{ way, id: `q${++this.#count}`, lifeMs: this.lifeMs, canConfirm: over === undefined },
      give: { currency: ask.from, amount: textOfMoney(money(gives)) },
      get: { currency: ask.to, amount: textOfMoney(money(gotten)) },
      ...(over && most !== undefined && most !== null
        ? { most: { currency: over[0], amount: textOfMoney(money(most)) } }
        : {}),
    };
    this.offers.set(offer.id, { ...offer, at });
    return { kind: 'done', value: offer };
  }

  async accept(
    { way, id }: Pick<ConversionOffer, 'way' | 'id'>,
    isWanted = () => true,
  ): Promise<Outcome<{ readonly conversionId: string }>> {
    this.calls.push('accept');
    await this.beforeAccept();
    if (!isWanted()) return { kind: 'refused', code: 'not-sent', message: 'no longer needed' };
    const offer = this.offers.get(id);
    if (offer?.way !== way) throw new Error(`no quote ${id} of ${way}`);
    if (!offer.canConfirm) throw new Error(`${id} cannot be confirmed`);
    this.accepted.push(id);
    this.onAccept(offer);
    const fate = this.fateOfAccept();
    if (fate === 'refused') return { kind: 'refused', code: '0380', message: 'gone' };
    if (fate === 'told' || fate === 'untold' || fate === 'executed before') this.#execute(offer, 'completed');
    if (fate === 'pending' || fate === 'pending, then failed') {
      const made = this.#execute(offer, 'pending');
      this.#clock.after(this.pendingMs, () => {
        made.status = fate === 'pending' ? 'completed' : 'failed';
      });
    }
    if (fate === 'long after') this.#clock.after(9_000, () => void this.#execute(offer, 'completed'));
    await this.#wait();
    if (fate === 'executed before') {
      this.#shown.add(id);
      return { kind: 'refused', code: '0381', message: 'executed', meaning: 'executed before' };
    }
    const isTold = fate === 'told' || fate.startsWith('pending');
    return isTold
      ? { kind: 'done', value: { conversionId: this.executed.at(-1)!.id } }
      : { kind: 'unknown', reason: 'no answer' };
  }

  async state(way: ConversionWay, conversionId: string): Promise<Outcome<ConversionState>> {
    this.calls.push('state');
    await this.#wait();
    if (!this.canLook) return { kind: 'unknown', reason: 'no answer' };
    const found = this.executed.find(each => each.id === conversionId && each.way === way);
    return found ? { kind: 'done', value: found } : { kind: 'refused', code: '0404', message: 'none' };
  }

  async find(way: ConversionWay, quoteId: string): Promise<Outcome<ConversionState | null>> {
    this.calls.push('find');
    await this.#wait();
    if (!this.canLook) return { kind: 'unknown', reason: 'no answer' };
    const found = this.executed.find(each => each.quote === quoteId && each.way === way);
    if (found === undefined || (this.omitsShown && this.#shown.has(quoteId))) return { kind: 'done', value: null };
    this.#shown.add(quoteId);
    return { kind: 'done', value: found };
  }

  /** Amount of a currency that it brought. */
  moved(currency: string): bigint {
    return this.executed.reduce((sum, { give, get, status }) => {
      if (status !== 'completed') return sum;
      const got = get.currency === currency ? moneyOf(get.amount) : 0n;
      return sum + got - (give.currency === currency ? moneyOf(give.amount) : 0n);
    }, 0n);
  }

  #execute({ id, way, give, get }: ConversionOffer, status: ConversionState['status']): Execution {
    const made = { id: `c-${id}`, quote: id, way, status, give, get };
    this.executed.push(made);
    return made;
  }

  #wait(): Promise<void> {
    const ms = this.answerMs;
    return ms > 0 ? new Promise(resolve => void this.#clock.after(ms, resolve)) : Promise.resolve();
  }
}
