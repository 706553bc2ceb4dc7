/** The door of the market data's supervisor: one book of an exchange, from stream and polls, and its public trades without a hole. */
export { ClockOffset } from './clockOffset.ts';
export { damagedBook, levelsOf, writeLevels } from './polledBook.ts';
export { MarketDataSupervisor } from './supervisor.ts';
export type {
  BookSource,
  MarketDataSupervisorOptions,
  MarketDataUser,
  SteppedBook,
  UnreadBook,
} from './supervisorTypes.ts';
export { PublicTradeTail } from './publicTradeTail.ts';
export type { PublicTradeTailOptions, TradeListener, TradeWay } from './publicTradeTail.ts';
