/** Main script of the console's page: shows the newest or a past view, and handles pointer and keys. */
import { Charts, RANGES, type Range } from './charts.ts';
import * as account from './accountPanels.ts';
import * as desk from './deskPanel.ts';
import type { DeskView } from './deskView.ts';
import { Dialogs } from './dialogs.ts';
import { h, pageElement, render, type Node, type Panel } from './elements.ts';
import { elsewherePanel } from './elsewherePanel.ts';
import * as market from './marketPanels.ts';
import { ProfitBars } from './profitBars.ts';
import { proposalsPanel } from './proposalsPanel.ts';
import * as standing from './statePanels.ts';
import { State } from './state.ts';
import { clockOf, shownCount, span, stamp } from './texts.ts';
import type { ConsoleView } from './view.ts';

/** Panels by the id of their element. */
const PANELS: Readonly<Record<string, Panel>> = {
  tiles: standing.tilesPanel,
  elsewhere: elsewherePanel,
  depth: market.depthPanel,
  regime: standing.regimePanel,
  limits: standing.limitsPanel,
  levels: market.levelsPanel,
  orders: market.ordersPanel,
  profit: account.profitPanel,
  fills: account.fillsPanel,
  budgets: standing.budgetsPanel,
  hedges: account.hedgesPanel,
  ledger: account.ledgerPanel,
  events: account.eventsPanel,
};
/** Steps of the keys that move the time slider, in ms. */
const STEP = { small: 10_000, minute: 60_000, large: 600_000 };

const slider = pageElement('slider') as HTMLInputElement;
const root = document.documentElement;
const charts = new Charts();
const bars = new ProfitBars();
let isDue = false;
let isHeld = false;

// Monotonic time from an event, because the page has no injected clock.
const now = (): number => new Event('now').timeStamp;
const state = new State(
  () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      show();
    });
  },
  () => scheduleRetry(),
  now,
  new URLSearchParams(location.search).get('book'),
);
const dialogs = new Dialogs(pageElement('actions'), pageElement('dialog') as HTMLDialogElement, state, now);

const LOOK_AGAIN_MS = 2_000;
let looking: number | undefined;
/**
 * Schedules the next request of the session after a pause, so that the page does not overload a console that is down or
 * full.
 */
function scheduleRetry(): void {
  window.clearTimeout(looking);
  looking = window.setTimeout(() => void refreshSession(), LOOK_AGAIN_MS);
}

/** Starts the live stream if this page may read; otherwise clears the page. */
async function refreshSession(): Promise<void> {
  const session = await dialogs.access.look();
  if (session?.mustLogIn === true) state.forget();
  else state.listen();
}

function show(): void {
  const { view, history, live, waiting } = state;
  showTime(live);
  const mustLogIn = dialogs.access.session?.mustLogIn === true;
  root.classList.toggle('is-closed', mustLogIn);
  root.classList.toggle('is-desk', state.desk !== null);
  root.classList.toggle('has-books', state.books !== undefined);
  render(
    desk.bookLinks(mustLogIn ? undefined : state.books, state.desk === null ? state.book : null),
    pageElement('books'),
  );
  if (state.desk !== null) {
    showDesk(state.desk);
    return;
  }
  if (view === null) {
    const why = mustLogIn ? 'log in to see the bot' : waiting === null ? 'connecting…' : waitingText(waiting);
    render(h('p', { class: 'warning' }, why), pageElement('warnings'));
    delete root.dataset['shown'];
    return;
  }
  render(standing.headPanel(view, state), pageElement('head'));
  render(standing.warningsPanel(view, state), pageElement('warnings'));
  for (const [name, panel] of Object.entries(PANELS)) render(panel(view, state), pageElement(name));
  const canAct = (dialogs.access.session?.actions.length ?? 0) > 0;
  render(proposalsPanel(view, canAct ? proposal => dialogs.review(proposal) : null), pageElement('proposals'));
  render(account.resultsPanel(state.long, state.longState, view.minor, state.past !== null), pageElement('results'));
  if (history !== null) charts.show(history, view, state.long);
  bars.show(view);
  document.title = `${view.book} ${view.decision.regime.regime} · Puntas`;
  root.dataset['shown'] = `${view.kind} ${view.at}`;
  root.classList.toggle('is-past', state.past !== null);
  root.classList.toggle('has-elsewhere', view.elsewhere !== null);
  root.classList.toggle('has-proposals', (view.proposals ?? []).length > 0);
}

/** Panels of the page of all books, by the id of the page element. */
const DESK_PANELS: Readonly<Record<string, (view: DeskView) => Node>> = {
  'desk-books': desk.deskTable,
  'desk-profit': desk.deskProfits,
  'desk-inventory': desk.deskCurrencies,
  'desk-requests': desk.deskRequests,
  'desk-fills': desk.deskFills,
  'desk-events': desk.deskEvents,
};

function showDesk(view: DeskView): void {
  render(desk.deskHead(view, state.isUp), pageElement('head'));
  render(desk.deskWarnings(view), pageElement('warnings'));
  for (const [name, panel] of Object.entries(DESK_PANELS)) render(panel(view), pageElement(name));
  const canAct = (dialogs.access.session?.actions.length ?? 0) > 0;
  render(proposalsPanel(view, canAct ? proposal => dialogs.review(proposal) : null), pageElement('proposals'));
  root.classList.toggle('has-proposals', (view.proposals ?? []).length > 0);
  document.title = `${shownCount(view.books.length, 'book')} · Puntas`;
  root.dataset['shown'] = `desk ${view.at}`;
}

const waitingText = ({ bot, trouble }: NonNullable<State['waiting']>): string =>
  trouble ??
  (bot.state === 'never ran'
    ? 'this bot has not run yet; the page shows data after the first start'
    : bot.state === 'silent'
      ? 'the bot has no heartbeat and no recording yet'
      : `the bot is ${bot.state} and has no recording yet`);

/** Updates the time slider, whose range is from the first recorded run to now. */
function showTime(live: ConsoleView | null): void {
  const { asked, past } = state;
  const [from, to] = [live?.runs[0]?.from ?? 0, live?.at ?? 0];
  slider.disabled = live === null;
  slider.min = String(from);
  slider.max = String(to);
  const at = asked?.at ?? past?.view.at ?? to;
  if (!isHeld) slider.value = String(at);
  slider.setAttribute('aria-valuetext', stamp(at));
  const text =
    asked !== null
      ? `${stamp(asked.at)}: replaying${asked.share > 0 ? `, ${Math.floor(asked.share * 100)}%` : ''}…`
      : past !== null
        ? `${stamp(past.view.at)}, ${span(to - past.view.at)} ago`
        : live === null
          ? ''
          : `${standing.lifeText(live)}, ${clockOf(to)}`;
  pageElement('live').textContent = live === null ? 'live' : standing.newestText(live);
  pageElement('when').textContent = text;
  pageElement('live').setAttribute('aria-pressed', String(asked === null && past === null));
}

function step(ms: number): void {
  const { asked, past, live } = state;
  if (live === null) return;
  const at = (asked?.at ?? past?.view.at ?? live.at) + ms;
  if (at >= live.at) state.go(null);
  else state.go(Math.max(live.runs[0]?.from ?? 0, at));
}

const level = (by: number): void => {
  const all = state.view?.decision.levels ?? [];
  const now = all.findIndex(one => market.nameOfLevel(one) === state.chosen);
  const next = all[(now + by + all.length) % (all.length || 1)];
  if (next) state.choose(market.nameOfLevel(next));
};

function theme(): void {
  const isDark =
    (root.dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  root.dataset['theme'] = isDark ? 'light' : 'dark';
  recolour();
}

function recolour(): void {
  charts.reset();
  bars.reset();
}

function range(chosen: Range): void {
  charts.range = chosen;
  for (const each of RANGES) pageElement(`range-${each}`).setAttribute('aria-pressed', String(each === chosen));
  charts.reset();
}

const nextRange = (): void => range(RANGES[(RANGES.indexOf(charts.range) + 1) % RANGES.length]!);

function period(): void {
  bars.by = bars.by === 'hour' ? 'day' : 'hour';
  pageElement('period').textContent = `by ${bars.by}`;
  bars.reset();
}

const help = (): void => {
  pageElement('help').hidden = !pageElement('help').hidden;
};

const KEYS: Readonly<Record<string, (isShift: boolean) => void>> = {
  ArrowLeft: isShift => step(isShift ? -STEP.minute : -STEP.small),
  ArrowRight: isShift => step(isShift ? STEP.minute : STEP.small),
  PageUp: () => step(-STEP.large),
  PageDown: () => step(STEP.large),
  Home: () => step(-Infinity),
  End: () => state.go(null),
  l: () => state.go(null),
  j: () => level(1),
  k: () => level(-1),
  r: nextRange,
  p: period,
  t: theme,
  '?': help,
  a: () => dialogs.focus(),
  Escape: () => (pageElement('help').hidden = true),
};

document.addEventListener('keydown', event => {
  const { key, shiftKey, ctrlKey, altKey, metaKey } = event;
  const act = KEYS[key];
  if (act === undefined || ctrlKey || altKey || metaKey || dialogs.isOpen) return;
  event.preventDefault();
  act(shiftKey);
});
slider.addEventListener('input', () => {
  isHeld = true;
  const at = Number(slider.value);
  state.go(at >= (state.live?.at ?? 0) - 1_000 ? null : at);
});
slider.addEventListener('change', () => (isHeld = false));
pageElement('live').addEventListener('click', () => state.go(null));
pageElement('theme').addEventListener('click', theme);
for (const each of RANGES) pageElement(`range-${each}`).addEventListener('click', () => range(each));
pageElement('period').addEventListener('click', period);
pageElement('keys').addEventListener('click', help);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
void refreshSession();
window.setInterval(() => state.check(), 1_000);
