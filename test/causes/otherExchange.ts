/** A second exchange in this process, on which a bot hedges, with an account there. */
import { amount, price } from '../../src/core/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { recordTrial } from '../../src/app/untried/untried.ts';
import {
  createSecondExchange,
  SECOND_VENUE,
  serve,
  type SecondExchange,
  type Served,
} from '../../src/sandbox/index.ts';
import { accountName } from '../../src/wiring/elsewhere/access.ts';
import { venueNamed } from '../../src/wiring/venueRegistry.ts';

const BOOK = 'btc_mxn';

export class OtherExchange {
  readonly #exchange = createSecondExchange({ clock: realClock(), switches: { rateLimits: 'off' } });
  readonly account: ReturnType<SecondExchange['openAccount']>;
  #served: Served | null = null;

  private constructor(balances: Readonly<Record<string, string>>) {
    this.account = this.#exchange.openAccount({ balances });
    const place = this.#exchange.marketplace(BOOK);
    place.place('buy', price(1_499_500), amount(5_000_000), 'GTC');
    place.place('sell', price(1_500_500), amount(5_000_000), 'GTC');
  }

  static async open(balances: Readonly<Record<string, string>>): Promise<OtherExchange> {
    const other = new OtherExchange(balances);
    const { respond, stream } = other.#exchange;
    other.#served = await serve({ respond, stream }, { host: '127.0.0.1', port: 0 });
    return other;
  }

  /** Section of a configuration, and a recorded trial order in the state directory. */
  sectionFor(state: string): object {
    const restUrl = this.#served!.url;
    const account = accountName({ restUrl: venueNamed(SECOND_VENUE).restUrl(restUrl), key: this.account.key });
    recordTrial(state, { section: 'elsewhere', name: SECOND_VENUE, account }, 'the exchange is a double', Date.now());
    return {
      ...{ kind: 'remote', venue: SECOND_VENUE, acceptUntried: SECOND_VENUE, book: BOOK },
      ...{ restUrl, streamUrl: restUrl.replace('http', 'ws') },
    };
  }

  async close(): Promise<void> {
    await this.#served?.close();
    this.#exchange.close();
  }
}
