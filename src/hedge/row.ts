/** One hedge as it is kept on disk: what was decided, what was asked for, and how far it came. */
import { textOfMoney } from '../core/index.ts';
import type { ConversionOffer, HedgeDecision, Millis } from '../core/index.ts';

/**
 * `accepted`: its acceptance may have left. `executing`: the exchange gave it an id. `unknown`: it may or may not have been carried out.
 * The last two lines of its life are `completed` and `failed`: it certainly was, and it certainly was not and never will be.
 */
export type HedgeState = 'requested' | 'quoted' | 'accepted' | 'executing' | 'unknown' | 'completed' | 'failed';

export type HedgeRow = {
  readonly id: string;
  readonly at: Millis;
  readonly state: HedgeState;
  /** What should leave (above zero) or come, in the major currency. */
  readonly amount: string;
  readonly weighed: readonly {
    readonly way: string;
    readonly cost: string | null;
    readonly bps: number | null;
    readonly not: string | null;
  }[];
  readonly offer: Pick<ConversionOffer, 'way' | 'id' | 'give' | 'get' | 'lifeMs'> | null;
  readonly acceptedAt: Millis | null;
  readonly conversionId: string | null;
  readonly why: string | null;
};

export const isOver = ({ state }: HedgeRow): boolean => state === 'completed' || state === 'failed';
/** Its acceptance may have left: from here on it counts both ways. */
export const mayMove = ({ state }: HedgeRow): boolean =>
  state === 'accepted' || state === 'executing' || state === 'unknown';

export const weighedText = ({ weighed }: HedgeDecision): HedgeRow['weighed'] =>
  weighed.map(({ way, cost, bps, not }) => ({ way, cost: cost === null ? null : textOfMoney(cost), bps, not }));

/** The comparison in one line. */
export const explained = (weighed: HedgeRow['weighed']): string =>
  weighed
    .map(({ way, bps, not }) =>
      `${way} ${bps === null ? '' : `${bps.toFixed(1)} bps`}${not === null ? ' (taken)' : ` (${not})`}`.replace(
        '  ',
        ' ',
      ),
    )
    .join(', ');
