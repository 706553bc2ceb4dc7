/** The judge of several books of one account: one checker for each book, and what each event of the account says to which. */
import type { Checker, Laws, Violation } from './checker.ts';
import { orderIn, symbolIn } from '../world/wire.ts';

const VIOLATIONS_MAX = 20;

/** Violations that the checkers of all books report. */
export class Violations {
  readonly all: Violation[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  readonly add = (law: string, what: string): void => {
    const isKnown = this.all.some(one => one.law === law && one.what === what);
    if (this.all.length < VIOLATIONS_MAX && !isKnown) this.all.push({ at: this.#now(), law, what });
  };
}

export class BooksChecker implements Laws {
  readonly #books: ReadonlyMap<string, Checker>;
  readonly #all: readonly Checker[];
  readonly #first: Checker;
  readonly #violations: Violations;

  constructor(books: ReadonlyMap<string, Checker>, violations: Violations) {
    this.#books = books;
    this.#all = [...books.values()];
    this.#first = this.#all[0]!;
    this.#violations = violations;
  }

  /** Returns the checker of one book. */
  of(symbol: string): Checker {
    const checker = this.#books.get(symbol);
    if (checker === undefined)
      throw new Error(`expected one of ${[...this.#books.keys()].join(', ')}, found ${symbol}`);
    return checker;
  }

  get violations(): Violation[] {
    return this.#violations.all;
  }

  get lockOuts(): number {
    return this.#sum(({ lockOuts }) => lockOuts);
  }

  get requests(): number {
    return this.#sum(({ requests }) => requests);
  }

  get unknowns(): number {
    return this.#sum(({ unknowns }) => unknowns);
  }

  get uptime(): { readonly both: number; readonly all: number } {
    return { both: this.#sum(({ uptime }) => uptime.both), all: this.#sum(({ uptime }) => uptime.all) };
  }

  get hasUnlistedTransfer(): boolean {
    return this.#first.hasUnlistedTransfer;
  }

  /** Time since which every book has had an order of this side. */
  readonly lastQuoteAt: Laws['lastQuoteAt'] = side => Math.min(...this.#all.map(book => book.lastQuoteAt(side)));
  readonly hasSent: Laws['hasSent'] = id => this.#all.some(book => book.hasSent(id));
  readonly isGone: Laws['isGone'] = id => this.#all.some(book => book.isGone(id));
  readonly othersPlaced: Laws['othersPlaced'] = oid => this.#first.othersPlaced(oid);
  readonly othersCanceled: Laws['othersCanceled'] = oid => this.#first.othersCanceled(oid);
  readonly orphan: Laws['orphan'] = id => this.#each(book => book.orphan(id));
  readonly lostNonces: Laws['lostNonces'] = () => this.#first.lostNonces();
  readonly lost: Laws['lost'] = id => this.#with(id).lost(id);
  readonly transferred: Laws['transferred'] = isListed => this.#each(book => book.transferred(isListed));
  readonly rulesChanged: Laws['rulesChanged'] = () => {
    throw new Error('expected the checker of one book');
  };
  readonly isOrphan: Laws['isOrphan'] = id => this.#all.some(book => book.isOrphan(id));
  readonly fateOf: Laws['fateOf'] = id => this.#with(id).fateOf(id);
  readonly halted: Laws['halted'] = reason => this.#each(book => book.halted(reason));
  readonly operatorStops: Laws['operatorStops'] = () => this.#each(book => book.operatorStops());
  readonly operatorStarts: Laws['operatorStarts'] = () => this.#each(book => book.operatorStarts());
  readonly haltLifted: Laws['haltLifted'] = () => this.#each(book => book.haltLifted());
  readonly wasHaltedWithin: Laws['wasHaltedWithin'] = ms => this.#all.some(book => book.wasHaltedWithin(ms));
  readonly streamed: Laws['streamed'] = life => this.#each(book => book.streamed(life));
  readonly started: Laws['started'] = (life, run) => this.#each(book => book.started(life, run));
  readonly rolled: Laws['rolled'] = (life, run) => this.#each(book => book.rolled(life, run));
  readonly watch: Laws['watch'] = known => this.#each(book => book.watch(known));
  readonly died: Laws['died'] = () => this.#each(book => book.died());
  readonly claimedOver: Laws['claimedOver'] = (id, ending) => this.#with(id).claimedOver(id, ending);
  readonly applied: Laws['applied'] = (life, fill) => this.#with(fill.id ?? '').applied(life, fill);
  readonly stopped: Laws['stopped'] = left => this.#each(book => book.stopped(left));
  readonly tried: Laws['tried'] = (request, topic) => this.#each(book => book.tried(request, topic));
  /** The first checker also counts requests and checks nonces, which do not belong to one book. */
  readonly sent: Laws['sent'] = (life, request, topic) =>
    (topic === 'place' ? this.of(orderIn(request).book) : this.#first).sent(life, request, topic);
  readonly arrived: Laws['arrived'] = (request, topic, reply) =>
    (topic === 'place' ? this.of(orderIn(request).book) : this.#first).arrived(request, topic, reply);
  readonly sentByOther: Laws['sentByOther'] = (request, topic) => this.#first.sentByOther(request, topic);
  readonly runsSince: Laws['runsSince'] = life => this.#first.runsSince(life);
  readonly standing: Laws['standing'] = () => this.#first.standing();
  readonly live: Laws['live'] = () => this.#all.flatMap(book => book.live());
  readonly breaks: Laws['breaks'] = (law, what) => this.#violations.add(law, what);
  readonly look: Laws['look'] = () => this.#each(book => book.look());
  readonly froze: Laws['froze'] = (life, until) => this.#each(book => book.froze(life, until));
  readonly checkQuoting: Laws['checkQuoting'] = (sinceMs, excuse) =>
    this.#each(book => book.checkQuoting(sinceMs, excuse));
  readonly checkStopped: Laws['checkStopped'] = left => this.#first.checkStopped(left);
  readonly checkNoUnknown: Laws['checkNoUnknown'] = ids => this.#first.checkNoUnknown(ids);
  readonly checkRestart: Laws['checkRestart'] = ms => this.#first.checkRestart(ms);
  readonly checkQuiet: Laws['checkQuiet'] = (ledger, matches) => this.#each(book => book.checkQuiet(ledger, matches));
  readonly checkNothingOpen: Laws['checkNothingOpen'] = open => this.#first.checkNothingOpen(open);

  readonly answered: Laws['answered'] = (life, topic, reply, sentAt, request) => {
    const symbol = request && symbolIn(request, topic);
    if (symbol === undefined) this.#each(book => book.answered(life, topic, reply, sentAt, request));
    else this.#books.get(symbol)?.answered(life, topic, reply, sentAt, request);
  };

  *liveWithTimes(): ReturnType<Laws['liveWithTimes']> {
    for (const book of this.#all) yield* book.liveWithTimes();
  }

  /** Returns the checker of the book in which an order was sent; the first if it was not sent. */
  #with(id: string): Checker {
    return this.#all.find(book => book.hasSent(id)) ?? this.#first;
  }

  #each(call: (book: Checker) => void): void {
    for (const book of this.#all) call(book);
  }

  #sum(of: (book: Checker) => number): number {
    return this.#all.reduce((sum, book) => sum + of(book), 0);
  }
}
