/**
 * First fills on an exchange whose client has traded only with test doubles: until enough of them have reconciled,
 * orders have the smallest size.
 */

/**
 * `reconciled`: number of fills after which the first comparison of balances and ledger agreed. `waiting`: number of
 * fills since the last comparison.
 */
export type FirstFillsState = { readonly reconciled: number; readonly waiting: number };

/** Number of fills or hedges that have reconciled, and number that must before orders may exceed the smallest size. */
export type FirstCount = { readonly reconciled: number; readonly until: number };

/** Returns a sentence for each exchange where orders have the smallest size. `hedges`: count at the other exchange. */
export function smallestSizes(
  { isSmallest, until, state }: Pick<FirstFills, 'isSmallest' | 'until' | 'state'>,
  hedges: (FirstCount & { readonly place: string }) | null,
): readonly string[] {
  const of = (orders: string, reconciled: number, max: number, counts: string) =>
    `${orders} have the smallest size: ${reconciled} of ${max}${counts} have reconciled`;
  return [
    ...(isSmallest ? [of('orders', state?.reconciled ?? 0, until, ' fills')] : []),
    ...(hedges === null ? [] : [of(`hedges at ${hedges.place}`, hedges.reconciled, hedges.until, '')]),
  ];
}

export class FirstFills {
  #until = 0;
  #state: FirstFillsState | undefined;

  /** Starts the count, or continues that of an earlier run. With `until` 0, nothing is counted. */
  restore(until: number, state: FirstFillsState | undefined): void {
    this.#until = until;
    this.#state = state ?? (until > 0 ? { reconciled: 0, waiting: 0 } : undefined);
  }

  /** Number of fills that must reconcile; 0 if orders may have any size. */
  get until(): number {
    return this.#until;
  }

  /** Count for the next run; `undefined` if nothing is counted. */
  get state(): FirstFillsState | undefined {
    return this.#state;
  }

  /** Whether orders must have the smallest size. */
  get isSmallest(): boolean {
    return !((this.#state?.reconciled ?? 0) >= this.#until);
  }

  filled(): void {
    if (this.#state !== undefined) this.#state = { ...this.#state, waiting: this.#state.waiting + 1 };
  }

  /** Applies a comparison of balances and ledger, which is the first one for the waiting fills. */
  compared(agrees: boolean): void {
    if (this.#state === undefined) return;
    const { reconciled, waiting } = this.#state;
    this.#state = { reconciled: reconciled + (agrees ? waiting : 0), waiting: 0 };
  }
}
