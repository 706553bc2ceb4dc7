/** What a run is started with: a checked configuration, a venue, a clock and a log. */
import type { Config } from '../../config.ts';
import type { Clock, EngineNews, Instrument } from '../../core/index.ts';
import type { Log } from '../../live/log.ts';
import type { VenueAccess } from '../../wiring/bot.ts';
import type { ConfigSource } from './reloading.ts';

export type RunOptions = {
  readonly config: Config;
  readonly venue: VenueAccess;
  readonly clock: Clock;
  readonly seed: number;
  readonly log: Log;
  readonly version: string;
  /** Characters that fit into a row where the log is shown; absent: as many as there are. */
  readonly rowRoom?: () => number;
  /** Where the configuration was read, when its state is where it says: named to a person in every command to type. */
  readonly configFile?: string | undefined;
  /** Currencies that the account holds none of (`--opening-zero`). */
  readonly openingZero?: readonly string[];
  /** Time between the two equal readings of the balances that open a ledger (default: 2 s). */
  readonly openingApartMs?: number;
  /** Called once the state is opened, or found not to be usable: from then on a failing start speaks of its orders itself. */
  readonly onOpened?: () => void;
  /** Told the engine's news as it happens, after the log. */
  readonly onNews?: (news: EngineNews, instrument: Instrument) => void;
  /** Called with a function that ends the run; its argument says why. */
  readonly onStarted: (
    stop: (why: string) => void,
    broke: (error: unknown) => void,
    /** Reads the file anew; does nothing without `source`. */
    reload: () => void,
  ) => void;
  /** What node runs as the console beside it, with its arguments; absent: nothing. */
  readonly consoleArgs?: readonly string[] | undefined;
  /** Where a new configuration comes from; absent: this one stays. */
  readonly source?: ConfigSource;
};
