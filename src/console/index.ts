/** Exports of the console for other layers. */
export { serveConsole } from './serve.ts';
export { leadText } from './page/texts.ts';
export type { ConsoleServer, ConsoleSource } from './serve.ts';
export { openApiDocument } from './apiSchemas.ts';
export type { ApiActionOver, ApiRead, ConsoleApi } from './apiRoutes.ts';
export type { AccessEvent, ConsoleAccess } from './access.ts';
export { APPROVAL_MS, Approvals } from './approvals.ts';
export type {
  ActionOver,
  ActionRequest,
  ConsoleActions,
  OnReplayed,
  ParameterChange,
  Prepared,
  ShownParameters,
} from './approvals.ts';
export type {
  ConsoleHistory,
  ConsoleView,
  DepthRow,
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
  SideMarkout,
} from './page/view.ts';
