/** Inventory beyond its limit: a halt, and once a person has resumed, only closed until it is within. */

/** Why only inventory is closed then. Ends by itself. */
export const RESUMED_BEYOND =
  'inventory is beyond its limit, and a person has resumed: it is only closed until it is within limits.positionMax';

/** `text`: how far inventory is from its target, with its currency. */
export const beyondLimit = (text: string): string => `position: ${text} from the target is beyond its limit`;

/** Whether a halt was for that. */
export const isBeyondLimit = (reason: string): boolean => /^position: .* is beyond its limit$/.test(reason);
