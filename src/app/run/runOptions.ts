/** Options of a run: a checked configuration, a venue, a clock and a log. */
import type { Config } from '../../config.ts';
import type { Clock, EngineNews, Instrument } from '../../core/index.ts';
import type { Log } from '../../live/log.ts';
import type { VenueAccess } from '../../wiring/bot.ts';
import type { OwnCall } from '../../../strategies/index.ts';
import type { ConfigSource } from './reloading.ts';

export type RunOptions = {
  readonly config: Config;
  readonly venue: VenueAccess;
  readonly clock: Clock;
  readonly seed: number;
  readonly log: Log;
  readonly version: string;
  /** Returns the characters per row of the log's terminal; unlimited if absent. */
  readonly rowRoom?: () => number;
  /**
   * Path of the configuration file, for commands in messages; absent if the state is not in the configured directory.
   */
  readonly configFile?: string | undefined;
  /** Currencies whose opening balance is zero (`--opening-zero`). */
  readonly openingZero?: readonly string[];
  /** Time between the two equal readings of the balances that open a ledger, in ms. Default: 2,000. */
  readonly openingApartMs?: number;
  /** Aborts when the operator stops the bot, so that a start waits no longer for a history. Default: never. */
  readonly stopping?: AbortSignal;
  /** Called once the state is open or found unusable. From then on, a failing start cancels its orders itself. */
  readonly onOpened?: () => void;
  /** Receives the engine's news as it happens, after the log. */
  readonly onNews?: (news: EngineNews, instrument: Instrument) => void;
  /** Makes each call into a strategy file. Default: with the time limit of a bot. */
  readonly ownCall?: OwnCall;
  /**
   * Error because of which the bot must not start, such as a strategy file that is not approved. The run then only
   * cancels the orders of an earlier run, as any failed start does, and rejects with this error.
   */
  readonly refusal?: Error | undefined;
  /**
   * Called when quoting starts. `stop` ends the run for a given reason; `broke` halts trading and ends the run after an
   * unhandled error.
   */
  readonly onStarted: (
    stop: (why: string) => void,
    broke: (error: unknown) => void,
    /** Reloads the file; does nothing without `source`. */
    reload: () => void,
  ) => void;
  /** Script and arguments of the console to start with the run; if absent, no console is started. */
  readonly consoleArgs?: readonly string[] | undefined;
  /** Script and arguments of the remote control to start with the run; if absent, no remote control is started. */
  readonly remoteArgs?: readonly string[] | undefined;
  /** Source of new configurations; if absent, reloads are impossible. */
  readonly source?: ConfigSource;
};
