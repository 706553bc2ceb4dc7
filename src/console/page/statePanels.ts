/** Panels of the bot's state: regime, limits, profit and request budgets. */
import { div, h, meterRow, none, sideText, small, signedSum, tableOf, type Node, type Panel } from './elements.ts';
import { trimmed, clockOf, shownCount, fixed, withSign, span, stamp, REGIME_TONE, stopLine, tone } from './texts.ts';
import type { ConsoleView } from './view.ts';

/** Text about the bot's process, next to the time of the newest view. Only a running bot is live. */
export const lifeText = ({ bot }: ConsoleView): string =>
  bot.state === 'running' ? 'live' : bot.state === 'silent' ? 'no heartbeat' : bot.state;

/** Text of the button that shows the newest view. */
export const newestText = ({ bot }: ConsoleView): string => (bot.state === 'running' ? 'live' : 'newest');

/** Header with the bot's identity, process state and regime. */
export const headPanel: Panel = (view, { isUp, past, live }) => {
  const { bot, decision, catchingUp } = view;
  const { regime, failure = null } = decision.regime;
  const notQuoting = failure ?? decision.refusal;
  const isPast = past !== null;
  const stale = bot.writtenAgoMs !== null && bot.writtenAgoMs > 10_000;
  return [
    h(
      'h1',
      null,
      view.book.replace('_', ' / ').toUpperCase(),
      small('soft', ` ${view.strategy} · ${view.instance} · run ${view.run}`),
    ),
    div(
      'pills',
      isPast
        ? small('pill past', 'past')
        : small(
            `pill ${bot.state === 'running' ? 'good' : 'bad'}`,
            bot.state === 'silent' ? 'no heartbeat' : bot.state,
          ),
      small(`pill ${REGIME_TONE[regime] ?? ''}`, regime),
      ...(isPast ? [] : bot.halts.filter(({ what }) => what !== regime).map(({ what }) => small('pill bad', what))),
      !isUp ? small('pill bad', 'no connection to the console') : null,
      !isPast && catchingUp !== null
        ? small('pill fair', `reading the recording: ${Math.floor(catchingUp * 100)}%`)
        : null,
      !isPast && stale && bot.state === 'running'
        ? small('pill fair', `recording not updated for ${span(bot.writtenAgoMs ?? 0)}`)
        : null,
    ),
    // Texts that change every few seconds have fixed places here, so that they do not move the page.
    div(
      'at',
      h('span', { class: 'why', title: notQuoting }, notQuoting === null ? '' : `not quoting: ${notQuoting}`),
      small('', stamp((isPast ? view : (live ?? view)).at), ' UTC'),
    ),
  ];
};

/** Warnings of the bot and the console; empty if there are none. */
export const warningsPanel: Panel = ({ decision, bot, unknown }, { problem, past }) => {
  const { note, difference, smallestSizes } = decision;
  const lines = [
    ...(problem === null ? [] : [problem]),
    ...(past === null ? bot.halts : []).map(stopLine),
    ...(difference === null
      ? []
      : [`the replay stopped, because this version of Puntas decides differently from the recording: ${difference}`]),
    ...(note === null ? [] : [note]),
    ...smallestSizes,
    ...(unknown === null ? [] : [`unknown figures: ${unknown}`]),
  ];
  return lines.map(line => h('p', { class: 'warning' }, line));
};

/** Tiles of the main figures. */
export const tilesPanel: Panel = view => {
  const { profit, position, decision, fills, uptime, minor, point } = view;
  const [, bid = 0, ask = 0] = point;
  const both = fills.markouts.find(({ side }) => side === 'both');
  const tile = (name: string, value: Node, under: Node) =>
    div('tile', small('soft', name), h('b', null, value), small('soft', under));
  const unknown = (name: string) => tile(name, '–', 'unknown');
  const profitTiles = ({ total, run, spread, inventory: moves, fees, hedging }: NonNullable<typeof profit>) => [
    tile(
      'profit since the opening of the ledger',
      signedSum(total),
      run === null ? minor : `${minor}, this run ${withSign(run.total, 2)}`,
    ),
    tile('spread', signedSum(spread), minor),
    tile('inventory', signedSum(moves), minor),
    tile('fees', signedSum(fees), Number(hedging) === 0 ? minor : `hedging ${withSign(hedging, 2)}`),
  ];
  const { inventory } = decision;
  const share = Math.abs(Number(position)) / (Number(inventory.max) || 1);
  return [
    ...(profit === null
      ? ['profit since the opening of the ledger', 'spread', 'inventory', 'fees'].map(unknown)
      : profitTiles(profit)),
    position === null
      ? unknown('position')
      : tile('position', withSign(position, 4), `${inventory.currency} from target, ${fixed(share * 100, 0)}%`),
    tile(
      'market',
      `${fixed((20_000 * (ask - bid)) / (ask + bid || 1), 1)} bps`,
      `${decision.market.bid ?? '–'} / ${decision.market.ask ?? '–'}`,
    ),
    tile(
      '60 s markout',
      both?.bps === null || both === undefined
        ? '–'
        : h('span', { class: tone(both.bps) }, `${withSign(both.bps, 2)} bps`),
      `${shownCount(both?.fills ?? 0, 'fill')}, before fees`,
    ),
    tile('quoted', `${fixed(uptime.bid * 100, 1)} / ${fixed(uptime.ask * 100, 1)}%`, 'share of time, bid / ask'),
  ];
};

/** Current regime with its start and reason, and earlier regimes. */
export const regimePanel: Panel = ({ decision: { regime: now, changes, figures }, at }) => [
  h(
    'p',
    null,
    h('b', { class: REGIME_TONE[now.regime] ?? '' }, now.regime),
    now.since === null ? ' since the start' : ` for ${span(at - now.since)}`,
    div('soft', now.why),
  ),
  changes.length < 2
    ? null
    : h(
        'ul',
        { class: 'lines' },
        ...changes
          .slice(-6, -1)
          .reverse()
          .map(({ regime: name, since, why }) =>
            h('li', null, small('soft', since === null ? 'start' : clockOf(since)), ` ${name}: `, small('soft', why)),
          ),
      ),
  figures.length === 0
    ? null
    : tableOf(
        ['model', '', ''],
        figures.map(({ name, value, unit }) => [name, String(Number(value.toPrecision(4))), small('soft', unit)]),
      ),
];

/** Panel of the limits: used amount, maximum and a meter for each limit. */
export const limitsPanel: Panel = ({ limits: all }) =>
  h(
    'ul',
    { class: 'limits' },
    ...all.map(({ limit, currency, max, used, share }) =>
      h(
        'li',
        { key: limit },
        ...meterRow(limit, `${fiveDigits(used)} of ${trimmed(max)}${currency === null ? '' : ` ${currency}`}`, share),
      ),
    ),
  );

const fiveDigits = (text: string): string =>
  Number(Number(text).toPrecision(5)).toLocaleString('en-US', { maximumFractionDigits: 8 });

/**
 * Remaining request budget, event loop delay and market data source, from the bot's metrics; then the counts of orders.
 */
export const budgetsPanel: Panel = ({ budgets: of, counts }, { past }) => [
  of === null
    ? none(
        past === null
          ? 'the bot serves no metrics; check metrics.host and metrics.port'
          : 'request budgets are not recorded; see the live view',
      )
    : h(
        'ul',
        { class: 'limits' },
        ...(['public', 'private'] as const).map(name => {
          const left = of[name];
          const most = name === 'public' ? of.publicMax : of.privateMax;
          const used = left === null ? 0 : 1 - left / most;
          return h(
            'li',
            { key: name },
            div(
              'row',
              small('', `${name} requests per minute`),
              small('soft', left === null ? '–' : `${left} of ${most} left`),
            ),
            h(
              'div',
              { class: `meter ${used >= 0.9 ? 'bad' : used >= 0.6 ? 'fair' : ''}` },
              h('i', { style: { width: `${Math.min(100, used * 100)}%` } }),
            ),
          );
        }),
        h(
          'li',
          { key: 'lag' },
          div(
            'row',
            small('', 'event loop, p99'),
            small('soft', of.eventLoopP99Ms === null ? '–' : `${fixed(of.eventLoopP99Ms, 1)} ms`),
          ),
        ),
        h(
          'li',
          { key: 'stream' },
          div(
            'row',
            small('', 'market data'),
            small('soft', of.streamUp === null ? 'polled' : of.streamUp ? 'stream' : 'stream is down, book is polled'),
          ),
        ),
      ),
  tableOf(
    ['orders', ...Object.keys(counts[0]?.counts ?? {})],
    counts.map(({ side, counts: each }) => [sideText(side), ...Object.values(each).map(String)]),
  ),
];
