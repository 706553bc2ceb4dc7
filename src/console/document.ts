/** HTML of the console's page with empty panels, which scripts fill. */

const panel = (id: string, title: string): string =>
  `<section class="panel at-${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2><div class="body" id="${id}"></div></section>`;
/** Entry of a chart's legend: color, name, and optionally a sign that is shown instead of a line. */
type Key = readonly [colour: string, name: string, sign?: string];
const legend = (keys: readonly Key[]): string =>
  keys
    .map(
      ([colour, name, sign]) =>
        `<span>${sign === undefined || sign === 'dashed' ? `<i class="k-${colour}${sign === undefined ? '' : ' dashed'}"></i>` : `<b class="k-${colour}">${sign}</b>`}${name}</span>`,
    )
    .join('');
const plot = (id: string, title: string, keys: readonly Key[], beside = '', below = ''): string =>
  `<section class="panel at-${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}<span class="read" id="${id}-read"></span>${beside}</h2>${below}<p class="legend">${legend(keys)}</p><div class="plot" id="${id}" role="img" aria-label="${title}"></div></section>`;

const KEYS = {
  price: [
    ['soft', 'best bid and ask'],
    ['buy', "the bot's bid"],
    ['sell', "the bot's ask"],
    ['buy', 'bought', '▲'],
    ['sell', 'sold', '▼'],
  ],
  inventory: [
    ['inventory', 'distance from target (held amount over a week or more)'],
    ['fees', 'limit', 'dashed'],
  ],
  profit: [
    ['ink', 'net'],
    ['spread', 'spread'],
    ['inventory', 'inventory'],
    ['fees', 'fees'],
    ['hedging', 'hedging'],
  ],
  hours: [
    ['ink', 'net'],
    ['buy', 'trading', '■'],
    ['fees', 'fees', '■'],
    ['hedging', 'hedging', '■'],
  ],
} as const;

/** Buttons for the period of the charts. */
const RANGES = [
  ['recent', '15 minutes'],
  ['day', 'day'],
  ['week', 'week'],
  ['opening', 'since the opening'],
] as const;
const ranges = `<div class="ranges" role="group" aria-label="period of the charts">${RANGES.map(
  ([id, name], i) => `<button id="range-${id}" type="button" aria-pressed="${i === 0}">${name}</button>`,
).join('')}</div>`;

/** Complete HTML file, without any external content. */
export const DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Puntas</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
<script src="/preact.js" defer></script>
<script src="/uPlot.js" defer></script>
<script src="/main.js" type="module"></script>
</head>
<body>
<header><div id="head"></div><div class="tools"><button id="keys" type="button" aria-label="keys">?</button><button id="theme" type="button">light / dark</button></div></header>
<div class="time"><input id="slider" type="range" step="1000" disabled aria-label="time of the recording"><span id="when" aria-live="off"></span><button id="live" type="button" aria-pressed="true">live</button></div>
<div id="books"></div>
<div id="actions" role="toolbar" aria-label="actions"></div>
<div id="help" hidden>
<p><kbd>←</kbd> <kbd>→</kbd> ten seconds, with <kbd>Shift</kbd> a minute, <kbd>Page Up</kbd> <kbd>Page Down</kbd> ten minutes, <kbd>Home</kbd> start of the recording; <kbd>L</kbd> or <kbd>End</kbd> live</p>
<p><kbd>J</kbd> <kbd>K</kbd> next or previous level; <kbd>R</kbd> period of the charts; <kbd>P</kbd> profit by hour or by day; <kbd>T</kbd> light or dark; <kbd>A</kbd> actions, <kbd>Esc</kbd> closes dialogs and this help; <kbd>?</kbd> this help</p>
</div>
<main>
<div id="warnings" role="status"></div>
<div id="tiles"></div>
${panel('proposals', 'Proposals of agents')}
${panel('elsewhere', 'Elsewhere')}
<div class="desk-grid">
${panel('desk-books', 'Books')}
${panel('desk-profit', 'Profit by quote currency')}
${panel('desk-inventory', 'Inventory of all books')}
${panel('desk-requests', 'Requests of the account')}
${panel('desk-fills', 'Last fills')}
${panel('desk-events', 'Events')}
</div>
<div class="grid">
${panel('depth', 'Book')}
${plot('price-plot', 'Price, quotes, fills', KEYS.price, '', ranges)}
${plot('inventory-plot', 'Inventory', KEYS.inventory)}
${plot('profit-plot', 'Profit', KEYS.profit)}
${panel('regime', 'Regime')}
${panel('limits', 'Limits')}
${panel('budgets', 'Requests')}
${panel('levels', 'Decision and price of each quote level')}
${panel('orders', 'Orders')}
${panel('fills', 'Fills and markouts')}
${plot('hours-plot', 'Profit net of fees', KEYS.hours, '<button id="period" type="button">by hour</button>')}
${panel('profit', 'Profit by hour and day')}
${panel('results', 'Results of each configuration')}
${panel('hedges', 'Hedges')}
${panel('ledger', 'Ledger')}
${panel('events', 'Events')}
</div>
</main>
<dialog id="dialog" aria-labelledby="dialog-title"></dialog>
</body>
</html>
`;
