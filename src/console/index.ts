/** Everything that other rooms may import from console. */
export { serveConsole } from './serve.ts';
export type { ConsoleServer, ConsoleSource } from './serve.ts';
export type {
  ConsoleHistory,
  ConsoleView,
  DepthRow,
  ProfitParts,
  ShownBot,
  ShownBudgets,
  ShownEvent,
  ShownFill,
  ShownHour,
  ShownLedger,
  ShownLimit,
  ShownOrder,
  SideMarkout,
} from './page/view.ts';
