/** Exports of the fleet for other layers. */
export { ASK_EVERY_MS, BotWatch } from './botWatch.ts';
export { ConsoleClient, type TlsTrust } from './consoleClient.ts';
export { fleetView } from './fleetView.ts';
