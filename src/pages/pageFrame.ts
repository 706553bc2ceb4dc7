/** Frame of a page with plots that opens from disk. The page fetches nothing, and no script in its content can run. */
import { createHash } from 'node:crypto';
import { html, NO_HTML, textOfHtml, type Html } from './html.ts';
import type { Plot } from './script/plot.ts';

/** Code embedded in the page: the chart library with its style, and the script of the page. */
export type PageParts = { readonly library: string; readonly libraryStyle: string; readonly script: string };

export type PageContent = {
  readonly title: string;
  /** Content of the page, with an element for every plot. */
  readonly body: Html;
  readonly plots: readonly Plot[];
  readonly parts: PageParts;
};

/**
 * Returns the text of the complete HTML file. The content security policy of the page allows only the two scripts of
 * `parts`, by their SHA-256, and no requests.
 */
export function pageWith({ title, body, plots, parts }: PageContent): string {
  const scripts = [parts.library, parts.script].map(text => text.replaceAll('</script', '<\\/script'));
  // Only these two scripts can run, whatever else the page contains. The page cannot load data, submit forms or change
  // its base address.
  const policy = `default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'unsafe-inline'; script-src ${scripts.map(text => `'sha256-${createHash('sha256').update(text).digest('base64')}'`).join(' ')}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
${textOfHtml(html`<title>${title}</title>`)}
<link rel="icon" href="data:,">
<style>${parts.libraryStyle}${STYLE}</style>
</head>
<body>
<main>
${textOfHtml(body)}
</main>
<script type="application/json" id="plots">${dataText(plots)}</script>
<script>${scripts[0] ?? ''}</script>
<script type="module">${scripts[1] ?? ''}</script>
</body>
</html>
`;
}

export const THEME_BUTTON = html`<button id="theme" type="button">light / dark</button>`;
export const PLOT_ADVICE =
  'Drag across a plot to zoom in; double-click to zoom out. Click a name in a legend to hide its line.';

/** Returns a section with a second-level heading, which is escaped. */
export const section = (heading: string, inside: Html | readonly Html[]): Html =>
  html`<section>
    <h2>${heading}</h2>
    ${inside}
  </section>`;

/**
 * Returns elements for plots. A single plot is as wide as the page; several plots are next to each other, in narrower
 * columns if `size` is `row many`.
 */
export const placesOf = (plots: readonly Plot[], size: 'row' | 'row many' = 'row'): Html =>
  plots.length === 1 ? html`${plots.map(place(''))}` : html`<div class="${size}">${plots.map(place('small'))}</div>`;

/** Returns the range of all known values plus a margin, as a shared scale of plots; `null` if no value is known. */
export function rangeOf(values: readonly (number | null)[]): readonly [number, number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!(low <= high)) return null;
  const margin = (high - low) * 0.06 || Math.max(1, Math.abs(high) * 0.1);
  return [low - margin, high + margin];
}

/** Returns elements for plots below each other, as wide as the page: the first plot tall, the others low. */
export const stacked = (plots: readonly Plot[]): Html =>
  html`${plots.map((plot, i) => place(i === 0 ? '' : 'low')(plot))}`;

/** Returns a collapsed section; its plots are drawn when the section is opened. */
export const folded = (name: string, inside: Html): Html =>
  html`<details class="part">
    <summary>${name}</summary>
    ${inside}
  </details>`;

const place =
  (size: string) =>
  ({ id, title }: Plot): Html =>
    html`<figure>
      ${size === '' || size === 'low' ? NO_HTML : html`<figcaption>${title}</figcaption>`}
      <div class="plot ${size}" id="${id}" role="img" aria-label="${title}"></div>
    </figure>`;

/** Encodes JSON for a script element, so that no data can end the element. */
const dataText = (data: unknown): string => JSON.stringify(data).replaceAll('<', '\\u003c');

/** Returns a table. `head` and `rows` are table rows; an empty `head` is `NO_HTML`. */
export const table = (head: Html, rows: readonly Html[]): Html =>
  html`<div class="wide">
    <table>
      ${
        head === NO_HTML
          ? NO_HTML
          : html`<thead>
              ${head}
            </thead>`
      }
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;

type Cell = string | number | Html;

/** Returns a row of a table. `name` is its heading. */
export const tableRow = (name: Cell, cells: readonly Cell[]): Html =>
  html`<tr>
    <th>${name}</th>
    ${cells.map(cell => html`<td>${cell}</td>`)}
  </tr>`;

/** Returns a head with the names of the columns. `first` is the name of the row headings. */
export const headRow = (first: string, names: readonly string[]): Html =>
  html`<tr>
    <th class="text">${first}</th>
    ${names.map(name => html`<th>${name}</th>`)}
  </tr>`;

/** Returns a table of facts without a head: names, and texts that wrap. */
export const factsTable = (rows: readonly (readonly [name: string, text: string])[]): Html =>
  table(
    NO_HTML,
    rows.map(
      ([name, text]) =>
        html`<tr>
          <th>${name}</th>
          <td class="text">${text}</td>
        </tr>`,
    ),
  );

/**
 * Returns a table of cells; the first cell of each row is its heading. `hasText`: whether the last column has
 * sentences, which wrap.
 */
export const rowsTable = (head: readonly string[], rows: readonly (readonly string[])[], hasText = false): Html =>
  table(
    html`<tr>
      ${head.map(name => html`<th>${name}</th>`)}
    </tr>`,
    rows.map(
      ([name = '', ...cells]) =>
        html`<tr>
          <th>${name}</th>
          ${cells.map((cell, i) =>
            hasText && i === cells.length - 1 ? html`<td class="text">${cell}</td>` : html`<td>${cell}</td>`,
          )}
        </tr>`,
    ),
  );

/**
 * Style of the page. The colors of fill models follow Okabe and Ito, so that color-blind readers can distinguish them.
 */
const STYLE = `
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#6a737d;--grid:#e3e6ea;--gap:#8884;--panel:#f6f7f9;
--model-0:#d55e00;--model-1:#0072b2;--model-2:#009e73;--model-3:#cc79a7;--model-4:#b8860b;--model-5:#56a0d3;--model-6:#7b5ea7;--model-7:#555;
--level-1:#4e79a7;--level-2:#d1495b;--level-3:#3a9d8f;--level-4:#c28a00;--level-5:#8e5ea2;--level-6:#7a5c3e;
--buy:#0072b2;--sell:#d55e00;--spread:#009e73;--inventory:#8250df;--fees:#cf222e;--hedging:#8c959f}
@media(prefers-color-scheme:dark){:root:not([data-theme=light]){--paper:#0f1318;--ink:#e6e9ed;--soft:#9aa4af;--grid:#2a3038;--gap:#8885;--panel:#171c23;
--model-0:#ff8c42;--model-1:#58a6ff;--model-2:#3ecf9b;--model-3:#e59ac0;--model-4:#e3b341;--model-5:#8fd0ff;--model-6:#b79bea;--model-7:#bbb;
--level-1:#7fb2e5;--level-2:#ff7b8a;--level-3:#5fd0c0;--level-4:#e8c04a;--level-5:#c49bd9;--level-6:#c9a27a;
--buy:#58a6ff;--sell:#ff8c42;--spread:#3ecf9b;--inventory:#b79bea;--fees:#ff7b72;--hedging:#8b949e}}
:root[data-theme=dark]{color-scheme:dark;--paper:#0f1318;--ink:#e6e9ed;--soft:#9aa4af;--grid:#2a3038;--gap:#8885;--panel:#171c23;
--model-0:#ff8c42;--model-1:#58a6ff;--model-2:#3ecf9b;--model-3:#e59ac0;--model-4:#e3b341;--model-5:#8fd0ff;--model-6:#b79bea;--model-7:#bbb;
--level-1:#7fb2e5;--level-2:#ff7b8a;--level-3:#5fd0c0;--level-4:#e8c04a;--level-5:#c49bd9;--level-6:#c9a27a;
--buy:#58a6ff;--sell:#ff8c42;--spread:#3ecf9b;--inventory:#b79bea;--fees:#ff7b72;--hedging:#8b949e}
:root[data-theme=light]{color-scheme:light}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:1240px;margin:0 auto;padding:24px 20px 60px}
header{display:flex;flex-wrap:wrap;gap:8px 16px;align-items:baseline;justify-content:space-between}
h1{font-size:24px;margin:0 0 8px}h2{font-size:18px;margin:36px 0 6px}p{margin:6px 0 10px;max-width:78ch}
.verdict{font-size:17px;max-width:112ch}.soft{color:var(--soft)}
button{font:inherit;font-size:13px;color:var(--soft);background:none;border:1px solid var(--grid);border-radius:6px;padding:2px 10px;cursor:pointer}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px;font-variant-numeric:tabular-nums}
th,td{padding:3px 12px 3px 0;text-align:right;white-space:nowrap;border-bottom:1px solid var(--grid);font-weight:400;vertical-align:top}
tbody th,td.text,th.text{text-align:left}tbody th{color:var(--soft)}td.text{white-space:normal;overflow-wrap:anywhere}thead th{font-weight:600}
th i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px}
.gain{color:var(--spread)}.loss{color:var(--fees)}tr.note td{border-top:0;padding-top:0;font-size:13px}.dense table{font-size:13px}.dense th,.dense td{padding-right:9px}.dense thead th{white-space:normal}th.narrow{white-space:normal;max-width:110px}td.line{white-space:nowrap}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(170px,100%),1fr));gap:8px;margin:12px 0}
.tile{display:flex;flex-direction:column;background:var(--panel);border:1px solid var(--grid);border-radius:6px;padding:8px 10px;font-size:12px;font-variant-numeric:tabular-nums;min-width:0;overflow-wrap:anywhere}.tile b{font-size:19px;line-height:1.3}
details{margin:2px 0}details.part{border-top:1px solid var(--grid);margin:0;padding:5px 0}.part>summary{font-size:16px;color:var(--ink)}.part h2{font-size:16px;margin:22px 0 4px}.part[open]{padding-bottom:24px}
summary{cursor:pointer;color:var(--soft);overflow-wrap:anywhere}
.row{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(340px,100%),1fr));gap:12px 20px}.row.many{grid-template-columns:repeat(auto-fill,minmax(min(285px,100%),1fr))}
figure{margin:0;min-width:0}figcaption{font-weight:600;font-size:14px}
.plot{width:100%;min-width:0;overflow:hidden}.u-legend{font-size:12px;color:var(--ink)}.u-legend .u-value{font-variant-numeric:tabular-nums}
.u-select{background:color-mix(in srgb,var(--ink) 12%,transparent)}
.u-inline.u-live th::after{content:""}
.u-legend th,.u-legend td{border:0;padding:1px 3px;white-space:nowrap;color:var(--ink)}.u-inline tr{margin-right:8px}
pre{background:var(--panel);border:1px solid var(--grid);border-radius:6px;padding:12px;overflow-x:auto;font-size:13px;line-height:1.4}
@media(max-width:520px){main{padding:14px 12px 40px}h1{font-size:20px}.verdict{font-size:16px}body{font-size:14px}table{font-size:13px}.wide tbody th:first-child{white-space:normal;min-width:104px;max-width:128px;position:sticky;left:0;background:var(--paper)}}
`;
