/** Exports of the console for other layers. */
export { serveConsole } from './serve.ts';
export { serveFleet } from './fleetServer.ts';
export { emptySummary, SUMMARY_FORMAT, SUMMARY_MAX, summaryOfView } from './summary.ts';
export type { BotSummary, MoneyKind, SummaryRun } from './summary.ts';
export type { FleetRate, FleetRow, FleetSums, FleetView } from './page/fleet/fleetView.ts';
export type { DeskCurrency, DeskProfit, DeskView, ShownDeskBook } from './page/deskView.ts';
export { isReasonTooShort, PAUSE_MINUTES_MAX, REASON_MAX, REASON_MIN, RECENT_POINTS_MAX } from './page/bounds.ts';
export { leadText, shortRate } from './page/texts.ts';
export type { ConsoleServer } from './pageServer.ts';
export type { ConsoleSource } from './serve.ts';
export { API_BASE, openApiDocument, ROLE_HEADER, SUMMARY_PATH } from './apiSchemas.ts';
export type { ApiActionOver, ApiProposals, ApiRead, ConsoleApi } from './apiRoutes.ts';
export type { AccessEvent, ConsoleAccess } from './access.ts';
export { APPROVAL_MS, Approvals } from './approvals.ts';
export type {
  ActionOver,
  ActionRequest,
  ConsoleActions,
  ConsoleProposals,
  OnReplayed,
  ParameterChange,
  Prepared,
} from './approvals.ts';
export type {
  ConfigResult,
  ConsoleHistory,
  ConsoleView,
  DepthRow,
  LongHistory,
  LongRange,
  ProfitParts,
  ShownBookPrices,
  ShownBot,
  ShownChange,
  ShownBudgets,
  ShownElsewhere,
  ShownElsewhereHedge,
  ShownElsewhereSource,
  ShownEvent,
  ShownFill,
  ShownHalt,
  ShownHedging,
  ShownHour,
  ShownLedger,
  ShownLimit,
  ShownOrder,
  ShownParameters,
  ShownProposal,
  SideMarkout,
} from './page/view.ts';
