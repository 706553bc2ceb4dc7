/** Exports of the embedded exchange for other layers. */
export { Account } from './venue/accounts.ts';
export { VenueConversions } from './desks/conversions.ts';
export type { VenueConversion } from './desks/conversions.ts';
export type { DeskBook, DeskSum, DeskWorld } from './desks/deskWorld.ts';
export { createSecondExchange, SECOND_BOOKS, SECOND_VENUE } from './binance/binanceExchange.ts';
export type { SecondExchange, SecondExchangeOptions, FeeRates } from './binance/binanceExchange.ts';
export { SECOND_SWITCHES } from './binance/binanceSwitches.ts';
export type { SecondSwitches } from './binance/binanceSwitches.ts';
export { SECOND_OPERATOR_ROUTES, withSecondOperator } from './binance/secondOperator.ts';
export { createVenue } from './exchange.ts';
export type { EmbeddedExchange, ExchangeOptions } from './exchange.ts';
export { arbitrageur } from './markets/arbitrageur.ts';
export type { ArbitrageCounts, ArbitrageurOptions } from './markets/arbitrageur.ts';
export { seededFlow } from './markets/flow.ts';
export { simulatedMarket } from './markets/lifelike/simulatedMarket.ts';
export type { MarketModel } from './markets/lifelike/simulatedMarket.ts';
export type { FlowOptions, FlowTake } from './markets/flow.ts';
export { FLOW_PROFILES } from './markets/flowProfile.ts';
export type { FlowProfile } from './markets/flowProfile.ts';
export { FollowedMarket } from './markets/followed.ts';
export type { FollowedCounts, FollowedQueues } from './markets/followed.ts';
export type { FollowedPlace, Market, Marketplace } from './markets/market.ts';
export { linkedMarket } from './markets/linkedMarket.ts';
export type { LinkedMarketOptions } from './markets/linkedMarket.ts';
export type { BasisOptions } from './markets/hiddenPrices.ts';
export { isLinkedCurrency, linkedFlows } from './markets/linkedFlows.ts';
export type { LinkedFlows, LinkOptions } from './markets/linkedFlows.ts';
export { tapeMarket, TapeRounds } from './markets/recordedMarket.ts';
export { feesOf } from './venue/books.ts';
export { RequestLimits } from './venue/limits.ts';
export { CODES, LOCKED_OUT, NOT_FOUND, statusOf } from './wire/codes.ts';
export type { Code } from './wire/codes.ts';
export { MatchingBook } from './matching/matching.ts';
export { OPERATOR_ROUTES, withOperator } from './operator/operator.ts';
export type { OperatorRoute } from './operator/operator.ts';
export { crossesFrom } from './desks/crossRates.ts';
export { RfqDesk } from './desks/rfq.ts';
export type { DeskConversion, DeskPair } from './desks/rfq.ts';
export { EXECUTED_BEFORE, RFQ_CODES } from './desks/rfqCodes.ts';
export { ROUTES } from './http/rest.ts';
export type { Respond } from './http/rest.ts';
export type { Route } from './http/route.ts';
export { paperTransport } from './paperTransport.ts';
export { UnrestorableAccount } from './restoredRows.ts';
export {
  booksOfRows,
  NewerStoredAccount,
  otherPurpose,
  OtherStoredAccount,
  purposeOfRows,
  StoredExchange,
} from './storedExchange.ts';
export type { AccountPurpose, RowChange, RowStore, StoredExchangeOptions } from './storedExchange.ts';
export { serve } from './http/server.ts';
export type { Served, ServeOptions } from './http/server.ts';
export { inProcessStream } from './stream/streamInProcess.ts';
export { SWITCHES, switchesOf } from './switches/switches.ts';
export type { Switches, SwitchName } from './switches/switches.ts';
export type { AccountTruth, Truth } from './venue/truth.ts';
export type { AccountOptions, VenueOptions } from './venue/venue.ts';
export type { Delivered, DeliveryPort } from './desks/webhooks.ts';
export type { BookChange, BookEvent, BookTrade } from './venue/venueBook.ts';
