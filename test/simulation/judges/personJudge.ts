/**
 * The laws of what persons do to a bot: what was taken holds, over restarts, until its own end and no longer; inventory that is only to be closed is not
 * opened; closing costs no more than was allowed; and each action has its line, with who and why. It knows what was asked and what lies in the
 * files, and of the bot only what leaves it.
 */
import { actionsIn } from '../../../src/app/actions/actionJournal.ts';
import type { ActionAsk, ActionEnd } from '../../../src/app/actions/actions.ts';
import { moneyOf } from '../../../src/core/index.ts';
import type { Holding, StateDir } from '../processes/stateDir.ts';

type Side = 'buy' | 'sell';

/** What the account truly has, in 10^-18 of the major currency. */
export type Standing = {
  /** Beyond the target. */
  readonly distance: bigint;
  /** Of our live orders. */
  readonly open: Readonly<Record<Side, bigint>>;
  /** What others and conversions under way may have made of it. */
  readonly slack: bigint;
};

/** An acceptance of an offer as it leaves, with what it costs at least, in 10^-18 of the minor currency. */
export type Accepted = {
  /** The request to close everything that the bot counts it for. */
  readonly flatten: string | null;
  /** When the bot began it, by the wall clock of its machine. */
  readonly begunAt: number;
  readonly cost: bigint;
  readonly slack: bigint;
  /** What the bot has on disk as the most that it may cost. */
  readonly most: bigint;
  /** False where it certainly was not carried out. */
  readonly mayCost: () => boolean;
};

export type PersonJudgeOptions = {
  readonly files: StateDir;
  readonly now: () => number;
  /** The exchange's wall clock; that of the machine is ahead of it by `skew`. */
  readonly wall: () => number;
  readonly skew: () => number;
  readonly standing: () => Standing;
  /** Origin ids of our live orders. */
  readonly live: () => readonly string[];
  readonly hedges: boolean;
  readonly breaks: (law: string, what: string) => void;
  readonly see: (what: PersonSometime) => void;
};

/** What must happen at least once in a campaign with actions. */
export const PERSON_SOMETIMES = [
  'a pause over a restart',
  'a pause over a change of runs',
  'a pause ended by its time',
  'a pause replaced by another',
  'a resume ended a pause over a halt',
  'a halt of a person over a restart',
  'a reduce of a person over a restart',
  'a reduce with inventory to close',
  'a flatten came to its end',
  'a flatten over a restart',
  'a hedge of a flatten was accepted',
  'a cancel was verified',
  'a cancel was refused',
  'a halt with cancel was verified',
  'an action beside an unknown order',
  'an action while runs changed',
  'an action at a crash',
  'an action at a reload',
  'an action while no bot ran',
  'an action that was asked wrongly',
] as const;
export type PersonSometime = (typeof PERSON_SOMETIMES)[number];

/** An order that was decided before waits so long for its place in the budget, and the bot looks at a reduce every other second. */
const SENT_WITHIN_MS = 1_600;
const LOOK_EVERY_MS = 2_000;
/** A hedge that was begun before a flatten was asked for. */
const OFFERED_WITHIN_MS = 30_000;
/** Trades are listed so late that the bot may take inventory for closed, or not, a while ago. */
const KNOWN_WITHIN_MS = 40_000;
/** What no order of the book can close: 10^-18 of the major currency, with room for the price. */
const SMALLEST = 10n ** 14n;

type Since = { readonly since: number };
type Taken = {
  halt: (Since & { readonly by: string }) | null;
  pause: (Since & { readonly until: number | null; readonly reason: string; readonly who: string }) | null;
  reduce: (Since & { readonly by: string }) | null;
  flatten: (Since & { readonly id: string; readonly costMax: bigint; readonly wall: number }) | null;
};

export class PersonJudge {
  readonly #o: PersonJudgeOptions;
  readonly #taken: Taken = { halt: null, pause: null, reduce: null, flatten: null };
  /** Of the flatten that stands. */
  #hedges: Accepted[] = [];
  /** What the machine's clock was ahead of the exchange's so far, at most. */
  #skewMax = 0;
  /** Distances of the last while. */
  #distances: { readonly at: number; readonly distance: bigint }[] = [];
  #lines = 0;

  constructor(options: PersonJudgeOptions) {
    this.#o = options;
  }

  /** Nobody holds the bot back any more. */
  get isFree(): boolean {
    return Object.values(this.#o.files.read()).every(each => each === null);
  }

  /** The machine's clock may have been set. */
  clockSet(): void {
    this.#skewMax = Math.max(this.#skewMax, this.#o.skew());
  }

  /** A run begins: the next one in its process, or the first of another process. */
  began(how: 'restart' | 'next run'): void {
    this.clockSet();
    const { pause, halt, reduce, flatten } = this.#taken;
    const { see } = this.#o;
    if (how === 'next run') {
      if (pause) see('a pause over a change of runs');
      return;
    }
    if (pause) see('a pause over a restart');
    if (halt?.by === 'person') see('a halt of a person over a restart');
    if (reduce?.by === 'person') see('a reduce of a person over a restart');
    if (flatten) see('a flatten over a restart');
  }

  /** Latched by the bot or the sentinel. */
  latched(by: string): void {
    this.#taken.halt ??= { since: this.#o.now(), by };
  }

  /** To be called when a command is given; returns what to call with its end, null where it was asked wrongly. */
  asked(ask: ActionAsk, machineNow: number): (end: ActionEnd | null) => void {
    const before = this.#o.live();
    const expected = this.#take(ask, machineNow);
    return end => {
      if (end === null) return this.#break('P4', `${ask.action} ${ask.id} was asked rightly and turned away`);
      if (expected !== null && end.end !== expected)
        this.#break('P4', `${ask.action} ${ask.id} was ${end.end}, expected ${expected}: ${end.lines[0]}`);
      this.#checkLine(ask, end);
      this.#checkWho(ask, end);
      this.look();
      if (ask.action !== 'cancel') return;
      this.#o.see(end.end === 'done' ? 'a cancel was verified' : 'a cancel was refused');
      if (end.end !== 'done') return;
      const live = new Set(this.#o.live());
      for (const id of before)
        if (live.has(id)) this.#break('P6', `${id} lives after a cancel that was verified (${ask.id})`);
    };
  }

  /** What was asked wrongly is no line, and changes nothing. */
  turnedAway(ask: ActionAsk, isTurnedAway: boolean): void {
    this.#o.see('an action that was asked wrongly');
    if (!isTurnedAway) this.#break('P4', `${ask.action} ${ask.id} was asked wrongly and carried out`);
    if (actionsIn(this.#o.files.dir).length !== this.#lines)
      this.#break('P4', `${ask.action} ${ask.id} was asked wrongly and has a line`);
    this.look();
  }

  /** `halt --cancel` begins; returns what to call when it says that nothing is left. `isLifted`: whether a person resumed meanwhile. */
  canceling(): (isLifted: boolean) => void {
    const before = new Set(this.#o.live());
    return isLifted => {
      this.#o.see('a halt with cancel was verified');
      // A bot that was resumed may place anew.
      const live = this.#o.live().filter(id => !isLifted || before.has(id));
      if ((isLifted || this.#taken.halt !== null) && live.length > 0)
        this.#break('P6', `${live.join(', ')} lives after a halt that canceled and verified`);
    };
  }

  /** An order leaves the bot; `major` in 10^-18. */
  sent(id: string, side: Side, major: bigint): void {
    this.#checkHeld(`${id} was sent`);
    const { reduce } = this.#taken;
    if (reduce === null || this.#o.now() - reduce.since <= LOOK_EVERY_MS + SENT_WITHIN_MS) return;
    const { distance, open, slack } = this.#o.standing();
    const room = (side === 'sell' ? distance : -distance) - open[side] + slack;
    if (major > room)
      this.#break(
        'P2',
        `${id}, ${side} ${major}, opens inventory that is only to be closed: ${distance} beyond the target, ${open[side]} in orders`,
      );
  }

  /** An acceptance of an offer leaves the bot. */
  accepted(hedge: Accepted): void {
    this.#checkHeld('an offer was accepted');
    const { flatten } = this.#taken;
    if (hedge.flatten !== null) this.#o.see('a hedge of a flatten was accepted');
    if (flatten === null) return;
    if (hedge.flatten === null) {
      if (this.#o.now() - flatten.since > OFFERED_WITHIN_MS && hedge.begunAt > flatten.wall + this.#skewSpan)
        this.#break('P3', `a hedge was begun beside flatten ${flatten.id}, and does not count for it`);
      return;
    }
    this.#hedges.push(hedge);
    const all = this.#hedges.filter(each => each.mayCost());
    const [cost, slack] = [sum(all.map(each => each.cost)), sum(all.map(each => each.slack))];
    const most = sum(all.map(each => each.most));
    if (cost > flatten.costMax + slack || most > flatten.costMax)
      this.#break(
        'P3',
        `hedges of flatten ${flatten.id} cost ${cost}, or ${most} by what is on disk; ${flatten.costMax} was allowed in all`,
      );
  }

  /** To be called every now and then: what lies there is what was taken and has not ended. */
  look(): void {
    this.clockSet();
    const { files, now, standing } = this.#o;
    const { distance } = standing();
    this.#distances.push({ at: now(), distance });
    while (now() - this.#distances[0]!.at > KNOWN_WITHIN_MS) this.#distances.shift();
    const there = files.read();
    this.#lookAtPause(there);
    const taken = this.#taken;
    if ((there.halt !== null) !== (taken.halt !== null))
      this.#break(
        'P5',
        there.halt === null ? 'a halt is gone, and nobody lifted it' : `halted by nobody: ${there.halt.reason}`,
      );
    if (taken.reduce !== null && there.reduce === null && taken.reduce.by === 'person')
      this.#break('P5', 'a reduce is gone, and nobody lifted it');
    if (there.reduce?.by === 'person' && taken.reduce === null)
      this.#break('P5', `a reduce of a person is there that nobody asked for: ${there.reduce.reason}`);
    taken.reduce = there.reduce === null ? null : (taken.reduce ?? { since: now(), by: there.reduce.by });
    taken.halt = there.halt === null ? null : (taken.halt ?? { since: now(), by: there.halt.by });
    if (taken.reduce !== null && distance !== 0n) this.#o.see('a reduce with inventory to close');
    this.#lookAtFlatten(there);
  }

  #lookAtPause(there: Holding): void {
    const { pause } = this.#taken;
    if (pause === null) {
      if (there.pause !== null) this.#break('P5', `paused, and nobody asked for it: ${there.pause.reason}`);
      return;
    }
    if (there.pause !== null) {
      if (there.pause.reason !== pause.reason || there.pause.until !== pause.until)
        this.#break('P5', `the pause is another than was asked for: ${there.pause.reason}`);
      return;
    }
    if (this.#isOver(pause.until)) this.#o.see('a pause ended by its time');
    else this.#break('P5', `the pause is gone before its end: ${pause.reason}`);
    this.#taken.pause = null;
  }

  #lookAtFlatten(there: Holding): void {
    const { flatten } = this.#taken;
    if (flatten === null) {
      if (there.flatten !== null) this.#break('P5', `flatten ${there.flatten.id} is there, and nobody asked for it`);
      return;
    }
    if (there.flatten !== null) return;
    this.#o.see('a flatten came to its end');
    this.#taken.flatten = null;
    const { slack } = this.#o.standing();
    const sizes = this.#distances.map(({ distance }) => (distance < 0n ? -distance : distance));
    const isCrossed =
      this.#distances.some(({ distance }) => distance > 0n) && this.#distances.some(({ distance }) => distance < 0n);
    const least = sizes.reduce((a, b) => (b < a ? b : a));
    if (!isCrossed && least > SMALLEST + slack)
      this.#break('P5', `flatten ${flatten.id} is over with ${least} of inventory beyond the target`);
  }

  /** What is expected to come of it: null where both may. */
  #take(ask: ActionAsk, machineNow: number): ActionEnd['end'] | null {
    const taken = this.#taken;
    const since = this.#o.now();
    switch (ask.action) {
      case 'pause': {
        if (taken.pause) this.#o.see('a pause replaced by another');
        const isOn = taken.pause !== null && !this.#isOver(taken.pause.until);
        const until = ask.untilMs ?? null;
        taken.pause = { since: isOn ? taken.pause!.since : since, until, reason: ask.reason, who: ask.by };
        return 'done';
      }
      case 'halt':
        taken.halt ??= { since, by: 'person' };
        return 'done';
      case 'reduce':
        if (taken.reduce !== null) return 'refused';
        taken.reduce = { since, by: 'person' };
        return 'done';
      case 'flatten':
        if (!this.#o.hedges) return 'refused';
        taken.reduce ??= { since, by: 'person' };
        taken.flatten = { since, id: ask.id, costMax: moneyOf(ask.costMax), wall: machineNow };
        this.#hedges = [];
        return 'done';
      case 'resume':
        return this.#resume(machineNow);
      case 'cancel':
      case 'reload':
      case 'set':
        return null;
    }
  }

  #resume(machineNow: number): ActionEnd['end'] {
    const taken = this.#taken;
    const { hold } = this.#o.files.read();
    const { pause } = taken;
    taken.pause = null;
    if (pause !== null && (pause.until === null || pause.until > machineNow)) {
      if (taken.halt !== null) this.#o.see('a resume ended a pause over a halt');
      return 'done';
    }
    if (taken.halt === null && hold === null && taken.reduce === null) return 'refused';
    Object.assign(taken, { halt: null, reduce: null, flatten: null });
    return 'done';
  }

  /** P1: while a person or a halt holds the bot nothing leaves it that takes anything on. */
  #checkHeld(what: string): void {
    const { now } = this.#o;
    const { halt, pause } = this.#taken;
    const isLate = ({ since }: Since) => now() - since > SENT_WITHIN_MS;
    const ago = ({ since }: Since) => `${((now() - since) / 1000).toFixed(1)} s`;
    if (halt !== null && isLate(halt)) this.#break('P1', `${what} ${ago(halt)} after a halt (by ${halt.by})`);
    if (pause !== null && isLate(pause) && !this.#isOver(pause.until))
      this.#break('P1', `${what} ${ago(pause)} after a pause: ${pause.reason}`);
  }

  /** By any clock that the machine has had so far. */
  #isOver(until: number | null): boolean {
    this.clockSet();
    return until !== null && until <= this.#o.wall() + this.#skewMax + 1;
  }

  /** By how much two readings of the machine's clock may differ. */
  get #skewSpan(): number {
    return this.#skewMax === 0 ? 0 : 4_000_000;
  }

  /** P4: one line, with who asked, where, why, and what came of it. */
  #checkLine(ask: ActionAsk, { end, lines }: ActionEnd): void {
    const all = actionsIn(this.#o.files.dir);
    const own = all.filter(({ id }) => id === ask.id);
    this.#lines++;
    if (own.length !== 1 || all.length !== this.#lines)
      return this.#break(
        'P4',
        `${ask.action} ${ask.id} has ${own.length} lines, the journal ${all.length} of ${this.#lines}`,
      );
    const [{ by, via, action, reason, untilMs, costMax, ...line }] = own as [(typeof own)[number]];
    const wanted = {
      ...{ by: ask.by, via: ask.via, action: ask.action, reason: ask.reason, end },
      untilMs: ask.action === 'pause' ? ask.untilMs : undefined,
      costMax: ask.action === 'flatten' ? ask.costMax : undefined,
      lines: lines.join(),
    };
    const found = { by, via, action, reason, end: line.end, untilMs, costMax, lines: line.lines.join() };
    if (JSON.stringify(found) !== JSON.stringify(wanted))
      this.#break('P4', `the line of ${ask.action} ${ask.id} says ${JSON.stringify(found)}`);
  }

  /** P4: what holds there says who, and why. */
  #checkWho(ask: ActionAsk, { end }: ActionEnd): void {
    if (end !== 'done') return;
    const { halt, pause, flatten } = this.#o.files.read();
    const said =
      ask.action === 'pause'
        ? pause && { who: pause.who, reason: pause.reason }
        : ask.action === 'flatten'
          ? flatten && { who: flatten.by, reason: flatten.reason }
          : ask.action === 'halt' && halt?.reason === ask.reason
            ? { who: halt.who, reason: halt.reason }
            : null;
    if (said !== null && (said.who !== ask.by || said.reason !== ask.reason))
      this.#break('P4', `${ask.action} ${ask.id} lies there as ${JSON.stringify(said)}`);
  }

  #break(law: string, what: string): void {
    this.#o.breaks(law, what);
  }
}

const sum = (all: readonly bigint[]): bigint => all.reduce((total, each) => total + each, 0n);
