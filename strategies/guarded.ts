/**
 * Guard of a strategy from a file: an error or an invalid quote empties both sides, with a reason that names the file.
 */
import { textOfError, type Depth, type Level, type Quote, type Strategy, type View } from '../src/core/index.ts';
import { silent } from './quoteLevels.ts';

/** Maximum number of levels of a side, of steps of a level, and of figures. */
const ENTRIES_MAX = 100;

/**
 * Returns a strategy that never throws and never changes the view. After an error the strategy does not quote until it
 * is made again, because its memory may be incomplete: a reload with a corrected file does this.
 */
export function guarded(file: string, make: () => Strategy): Strategy {
  let failure: string | null = null;
  const fails = (error: unknown): void => {
    failure ??= `${file} failed: ${textOfError(error).slice(0, 200)}; correct the file, then run puntas reload`;
  };
  const attempt = <T>(work: () => T): T | undefined => {
    if (failure !== null) return undefined;
    try {
      return work();
    } catch (error) {
      fails(error);
      return undefined;
    }
  };
  const strategy = attempt(() => strategyOf(make()));
  return {
    quote(view) {
      const quote = attempt(() => strategy?.quote(withOwnDepth(view)));
      const problem = failure ?? attempt(() => quoteProblem(quote));
      if (failure !== null) return silent(failure);
      return problem === null ? quote! : silent(`${file} returned an invalid quote: ${problem}`);
    },
    ...(strategy?.trade !== undefined && {
      trade: trade => void attempt(() => strategy.trade?.({ ...trade })),
    }),
  };
}

function strategyOf(made: unknown): Strategy {
  if (typeof (made as Strategy | undefined)?.quote !== 'function')
    throw new Error('make: expected a strategy with the function quote');
  return made as Strategy;
}

/** Returns a view whose book the strategy can change without an effect on the engine. */
function withOwnDepth(view: View): View {
  const { bidPrices, bidAmounts, askPrices, askAmounts } = view.depth;
  const depth: Depth = {
    ...view.depth,
    ...{ bidPrices: bidPrices.slice(), bidAmounts: bidAmounts.slice() },
    ...{ askPrices: askPrices.slice(), askAmounts: askAmounts.slice() },
  };
  return { ...view, depth };
}

/** Returns why a value is not a quote; `null` if it is. Numbers that are not finite are left to the engine. */
export function quoteProblem(quote: unknown): string | null {
  if (typeof quote !== 'object' || quote === null) return `expected an object, found ${String(quote)}`;
  const { bids, asks, noBid, noAsk, figures } = quote as Partial<Record<keyof Quote, unknown>>;
  for (const [side, levels] of Object.entries({ bids, asks })) {
    if (!Array.isArray(levels)) return `${side}: expected a list of levels`;
    if (levels.length > ENTRIES_MAX) return `${side}: expected at most ${ENTRIES_MAX} levels, found ${levels.length}`;
    const wrong = levels.findIndex(level => !isLevel(level));
    if (wrong >= 0) return `${side}[${wrong}]: expected { price: number, amount: number, why: [{ name, ticks }] }`;
  }
  for (const [key, text] of Object.entries({ noBid, noAsk }))
    if (text !== undefined && typeof text !== 'string') return `${key}: expected text`;
  if (figures === undefined) return null;
  return isList(figures, isFigure) ? null : 'figures: expected [{ name, value: number, unit }]';
}

const isList = (list: unknown, isEntry: (one: unknown) => boolean): boolean =>
  Array.isArray(list) && list.length <= ENTRIES_MAX && list.every(isEntry);

const isNamed = (one: unknown, ...numbers: readonly string[]): boolean =>
  typeof one === 'object' &&
  one !== null &&
  typeof (one as { readonly name?: unknown }).name === 'string' &&
  numbers.every(key => typeof (one as Readonly<Record<string, unknown>>)[key] === 'number');

const isFigure = (one: unknown): boolean =>
  isNamed(one, 'value') && typeof (one as { readonly unit?: unknown }).unit === 'string';

function isLevel(one: unknown): one is Level {
  if (typeof one !== 'object' || one === null) return false;
  const { price, amount, why, amounts } = one as Partial<Record<keyof Level, unknown>>;
  return (
    typeof price === 'number' &&
    typeof amount === 'number' &&
    isList(why, step => isNamed(step, 'ticks')) &&
    (amounts === undefined || isList(amounts, step => isNamed(step, 'lots')))
  );
}
