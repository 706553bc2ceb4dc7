/** Names of what an account on another exchange holds: `usdt@other`. What the bot's own exchange holds has no place. */

/** Returns the name of a currency or an entry at a place. */
export const atPlace = (name: string, place: string): string => `${name}@${place}`;

/** Whether the name is of this place. */
export const isAtPlace = (name: string, place: string): boolean => name.endsWith(`@${place}`);
