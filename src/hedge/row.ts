/** What a hedge's state means for those who carry it on, and its comparison as text. */
import { textOfMoney } from '../core/index.ts';
import type { HedgeDecision, HedgeRow } from '../core/index.ts';

export type { HedgeRow };

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
