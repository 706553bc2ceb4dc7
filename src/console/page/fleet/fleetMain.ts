/** Main script of the fleet page: the live stream, search, order and login. */
import { Access } from '../access.ts';
import { h, pageElement, render } from '../elements.ts';
import { botsTable, fleetHead, sumsPanels } from './fleetPanels.ts';
import { matchesSearch, sortedRows, type SortColumn, type SortOrder } from './fleetRows.ts';
import type { FleetView } from './fleetView.ts';
import { StreamWatch } from '../streamWatch.ts';
import { span } from '../texts.ts';

const search = pageElement('search') as HTMLInputElement;
const login = pageElement('login') as HTMLFormElement;
const root = document.documentElement;

let view: FleetView | null = null;
let isUp = false;
let isDue = false;
let stream: EventSource | null = null;
let order: SortOrder = { column: 'state', isDown: true };

const LOOK_AGAIN_MS = 2_000;
// Monotonic time from an event, because the page has no injected clock.
const now = (): number => new Event('now').timeStamp;
const watch = new StreamWatch(now);
/** Monotonic time at which the shown view arrived, in ms. */
let viewAt = 0;
let looking: number | undefined;

const access = new Access(() => schedule());

function schedule(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    show();
  });
}

function show(): void {
  const mustLogIn = access.session?.mustLogIn === true;
  login.hidden = !mustLogIn;
  if (view === null || mustLogIn) {
    const why = mustLogIn ? 'log in to see the bots' : 'connecting…';
    for (const id of ['head', 'sums', 'bots']) render(null, pageElement(id));
    render(h('p', { class: 'warning' }, why), pageElement('warnings'));
    delete root.dataset['shown'];
    return;
  }
  root.classList.toggle('is-lost', !isUp);
  const age = span(now() - viewAt);
  const lost = `no connection to the fleet process; all figures are at least ${age} old`;
  render(isUp ? null : h('p', { class: 'warning' }, lost), pageElement('warnings'));
  render(fleetHead(view, isUp), pageElement('head'));
  render(sumsPanels(view), pageElement('sums'));
  const rows = sortedRows(
    view.bots.filter(row => matchesSearch(row, search.value)),
    order,
  );
  render(botsTable(rows, order, sortBy), pageElement('bots'));
  const troubled = view.bots.filter(({ state, bot }) => state === 'silent' || bot === 'silent').length;
  document.title = `${isUp ? '' : 'No connection · '}${troubled > 0 ? `${troubled} silent · ` : ''}Fleet · Puntas`;
  root.dataset['shown'] = String(view.at);
}

function sortBy(column: SortColumn): void {
  order = { column, isDown: order.column === column ? !order.isDown : column !== 'name' };
  schedule();
}

/** Starts the live stream if this page may read; otherwise clears the page. */
async function refreshSession(): Promise<void> {
  const session = await access.look();
  if (session?.mustLogIn === true) {
    stream?.close();
    [stream, view, isUp] = [null, null, false];
    schedule();
    return;
  }
  if (stream !== null && stream.readyState !== EventSource.CLOSED) return;
  const opened = new EventSource('/live');
  stream = opened;
  watch.heard();
  opened.onerror = () => {
    if (stream !== opened) return;
    isUp = false;
    schedule();
    window.clearTimeout(looking);
    looking = window.setTimeout(() => void refreshSession(), LOOK_AGAIN_MS);
  };
  opened.onmessage = ({ data }: MessageEvent<string>) => {
    if (stream !== opened) return;
    view = JSON.parse(data) as FleetView;
    viewAt = now();
    watch.heard();
    isUp = true;
    schedule();
  };
}

/** Replaces a stream that stalled, and updates the shown age while there is no connection. */
function checkStream(): void {
  // A page that waits for a login has neither a stream nor a view, and must not open a stream.
  if (watch.isStalled && (stream !== null || view !== null)) {
    isUp = false;
    stream?.close();
    stream = null;
    watch.heard();
    void refreshSession();
  }
  if (!isUp) schedule();
}

login.addEventListener('submit', event => {
  event.preventDefault();
  const token = pageElement('token') as HTMLInputElement;
  const problem = pageElement('login-problem');
  problem.textContent = '';
  access.logIn(token.value.trim(), (pageElement('who') as HTMLInputElement).value).then(
    () => {
      token.value = '';
      void refreshSession();
    },
    (error: unknown) => {
      problem.textContent = error instanceof Error ? error.message : String(error);
    },
  );
});
search.addEventListener('input', schedule);
pageElement('theme').addEventListener('click', () => {
  const isDark =
    (root.dataset['theme'] ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  root.dataset['theme'] = isDark ? 'light' : 'dark';
});
void refreshSession();
window.setInterval(checkStream, 1_000);
