/**
 * Public interface of the market-data supervisor: one book from stream and polls, and its public trades without gaps.
 */
export { ClockOffset } from './clockOffset.ts';
export { damagedBook, levelsOf, writeLevels } from './polledBook.ts';
export { MarketDataSupervisor } from './supervisor.ts';
export type {
  BookSource,
  MarketDataSupervisorOptions,
  MarketDataUser,
  PollState,
  SteppedBook,
  UnreadBook,
} from './supervisorTypes.ts';
export { PublicTradeTail } from './publicTradeTail.ts';
export type { PublicTradeTailOptions, TradeListener, TradeWay } from './publicTradeTail.ts';
