/** Colors and layout of the console: the report's palette, dense rows, tabular figures, one column on a phone. */

const LIGHT = `--paper:#f4f5f7;--panel:#fff;--ink:#1b1f24;--soft:#667079;--rule:#e3e6ea;--line:#d8dce1;
--buy:#0067a8;--sell:#b54900;--buyback:#0067a81f;--sellback:#b549001f;--own:#fff4d6;
--spread:#00875f;--inventory:#7a3fd1;--fees:#cf222e;--good:#00794f;--fair:#956400;--bad:#cf222e;--past:#7a3fd1`;
const DARK = `--paper:#0b0e12;--panel:#12171d;--ink:#e2e6ea;--soft:#93a0ac;--rule:#222932;--line:#28303a;
--buy:#58a6ff;--sell:#ff8c42;--buyback:#58a6ff26;--sellback:#ff8c4226;--own:#2b2817;
--spread:#3ecf9b;--inventory:#b79bea;--fees:#ff7b72;--good:#3ecf9b;--fair:#e3b341;--bad:#ff7b72;--past:#b79bea`;

/** CSS of the full page. */
export const STYLE = `
:root{color-scheme:light dark;${LIGHT}}
@media(prefers-color-scheme:dark){:root:not([data-theme=light]){${DARK}}}
:root[data-theme=dark]{color-scheme:dark;${DARK}}
:root[data-theme=light]{color-scheme:light}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:13px/1.4 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;font-variant-numeric:tabular-nums}
header,.time{display:flex;align-items:center;gap:8px 14px;padding:6px 12px;background:var(--panel);border-bottom:1px solid var(--line)}
.time{position:sticky;top:0;z-index:2}
#head{display:flex;flex:1;flex-wrap:wrap;align-items:center;gap:4px 14px;min-width:0}
h1{font-size:15px;margin:0;overflow-wrap:anywhere}h1 .soft{font-weight:400;font-size:13px}
.at{display:flex;flex:1 1 160px;gap:14px;min-width:0;justify-content:flex-end;color:var(--soft);white-space:nowrap}.at .why{flex:1 1 0;min-width:0;overflow:hidden;text-overflow:ellipsis;color:var(--bad)}
.pills{display:flex;flex-wrap:wrap;gap:4px}
.pill{border:1px solid currentColor;border-radius:99px;padding:0 8px;font-size:12px;font-weight:600;color:var(--soft);white-space:nowrap}
.good{color:var(--good)}.fair{color:var(--fair)}.bad{color:var(--bad)}.past{color:var(--past)}.soft{color:var(--soft)}
.gain{color:var(--good)}.loss{color:var(--bad)}.bid{color:var(--buy)}.ask{color:var(--sell)}
button{font:inherit;font-size:12px;color:var(--soft);background:none;border:1px solid var(--line);border-radius:5px;padding:2px 8px;cursor:pointer;min-height:24px}
button:hover{color:var(--ink)}button[aria-pressed=true]{color:var(--ink);border-color:currentColor}
:focus-visible{outline:2px solid var(--buy);outline-offset:1px}
.tools{display:flex;gap:6px}
#slider{flex:1;min-width:80px;accent-color:var(--buy);margin:0;height:24px}.is-past #slider{accent-color:var(--past)}
.is-past .time{box-shadow:inset 0 -2px var(--past)}
#when{white-space:nowrap;min-width:150px;text-align:right;color:var(--soft)}.is-past #when{color:var(--past)}
#live[aria-pressed=true]{color:var(--good)}
#actions{display:flex;flex-wrap:wrap;align-items:center;gap:6px;padding:5px 12px;background:var(--panel);border-bottom:1px solid var(--line)}#actions:empty{display:none}#actions button{color:var(--ink)}#actions [data-action=halt],#confirm{color:var(--bad)}
.is-closed #tiles,.is-closed .at-elsewhere,:root:not(.has-elsewhere) .at-elsewhere,.is-closed .at-proposals,:root:not(.has-proposals) .at-proposals,.is-closed .grid,.is-closed .desk-grid,.is-desk .grid,.is-desk #tiles,.is-desk .time,:root:not(.is-desk) .desk-grid,:root:not(.has-books) #books,.is-closed .time,.is-closed #head{display:none}
dialog{width:min(560px,calc(100vw - 24px));max-height:calc(100dvh - 48px);overflow-y:auto;background:var(--panel);color:var(--ink);border:1px solid var(--line);border-radius:7px;padding:14px 16px}dialog::backdrop{background:#0008}
dialog h2{font-size:14px;text-transform:none;letter-spacing:0;color:var(--ink)}dialog label{display:flex;flex-direction:column;margin:0 0 8px}dialog p{overflow-wrap:anywhere}
input:not([type=range]){font:inherit;color:var(--ink);background:var(--paper);border:1px solid var(--soft);border-radius:5px;padding:5px 8px;min-width:0}
dialog .row{display:flex;flex-wrap:wrap;gap:8px;margin-top:10px}dialog .row button{min-height:32px;padding:4px 12px;color:var(--ink)}dialog .told{margin:0 0 8px;padding:6px 8px;background:var(--paper);border-radius:5px}.lines .pre{font:12px/1.45 ui-monospace,"Liberation Mono",Menlo,Consolas,monospace;white-space:pre;overflow-x:auto}@media(max-width:480px){dialog .lines .pre{font-size:min(12px,2.45vw)}}dialog button[aria-disabled=true]{opacity:.5;cursor:default}
#help{padding:6px 14px;background:var(--panel);border-bottom:1px solid var(--line)}#help p{margin:3px 0}
kbd{border:1px solid var(--line);border-radius:3px;padding:0 4px;font:inherit;font-size:12px}
main{padding:8px 12px 24px;max-width:2200px;margin:0 auto}
.warning{margin:0 0 6px;padding:5px 10px;border-left:3px solid var(--bad);background:var(--panel);overflow-wrap:anywhere}
#tiles{display:grid;grid-template-columns:repeat(8,1fr);gap:6px;margin-bottom:6px}
.tile{display:flex;flex-direction:column;background:var(--panel);border:1px solid var(--line);border-radius:5px;padding:5px 9px;min-width:0;font-size:11px}
.tile b{font-size:17px;line-height:1.35;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}.tile .soft{overflow-wrap:anywhere}
.grid{display:grid;gap:6px;grid-template-columns:350px repeat(6,minmax(0,1fr));grid-template-areas:
"depth price price price price limits limits"
"depth price price price price regime regime"
"depth inv inv profitc profitc regime regime"
"depth inv inv profitc profitc budgets budgets"
"levels levels orders orders orders fills fills"
"hours hours hours ledger ledger events events"
"profit profit profit hedges hedges events events"
"results results results results results results results"}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:5px;padding:6px 10px 8px;min-width:0;overflow:hidden}
.at-depth{grid-area:depth}.at-price-plot{grid-area:price}.at-inventory-plot{grid-area:inv}.at-profit-plot{grid-area:profitc}.at-regime{grid-area:regime}.at-limits{grid-area:limits}.at-levels{grid-area:levels}.at-orders{grid-area:orders}.at-fills{grid-area:fills}.at-hours-plot{grid-area:hours}.at-profit{grid-area:profit}.at-budgets{grid-area:budgets}.at-hedges{grid-area:hedges}.at-results{grid-area:results}.at-ledger{grid-area:ledger}.at-events{grid-area:events}
.at-elsewhere,.at-proposals{margin-bottom:6px}.parts{display:grid;gap:6px 24px;grid-template-columns:repeat(auto-fit,minmax(min(100%,380px),1fr))}.parts>div{min-width:0}.parts table{margin-bottom:6px}.parts td.text{white-space:normal;min-width:60px}.parts :is(th,td){padding-left:8px}.parts :is(th,td):first-child{padding-left:0}
h2{display:flex;align-items:baseline;gap:10px;font-size:11px;letter-spacing:.05em;text-transform:uppercase;color:var(--soft);margin:0 0 4px;font-weight:600}
h2 .read{font-weight:400;letter-spacing:0;text-transform:none;white-space:pre;overflow:hidden;text-overflow:ellipsis;min-width:0}h2 button{margin-left:auto;text-transform:none;letter-spacing:0;white-space:nowrap}
p{margin:0 0 6px}
.legend{display:flex;flex-wrap:wrap;gap:0 12px;margin:0;font-size:11px;color:var(--soft)}.legend i{display:inline-block;width:12px;height:0;margin-right:4px;vertical-align:middle;border-top:2px solid}.legend i.dashed{border-top-style:dashed}.legend b{margin-right:3px;font-weight:400}
.k-soft{color:var(--soft)}.k-buy{color:var(--buy)}.k-sell{color:var(--sell)}.k-ink{color:var(--ink)}.k-spread{color:var(--spread)}.k-inventory{color:var(--inventory)}.k-fees{color:var(--fees)}.k-hedging{color:var(--fair)}
.at-price-plot,.at-inventory-plot,.at-profit-plot,.at-hours-plot{display:flex;flex-direction:column}
.plot{position:relative;flex:1 1 0;min-height:290px;min-width:0;overflow:hidden}.plot .uplot{position:absolute}.at-inventory-plot .plot,.at-profit-plot .plot,.at-hours-plot .plot{min-height:190px}
.none{color:var(--soft);padding:2px 0}
.at-ledger :is(th,td){padding-left:6px}.at-ledger td:first-child{white-space:normal;padding-left:0}.wide{overflow-x:auto}.scroll{max-height:270px;overflow-y:auto}#budgets{overflow-x:auto}#budgets th,#budgets td{padding-left:5px}.at-profit .scroll,.at-events .scroll,.at-results .scroll{max-height:400px}
table{border-collapse:collapse;width:100%}
th,td{padding:1px 0 1px 10px;text-align:right;white-space:nowrap;font-weight:400;vertical-align:top}
th:first-child,td:first-child{padding-left:0}th.text,td.text{text-align:left}td.prose{white-space:normal;min-width:120px}
thead th{color:var(--soft);font-size:11px;border-bottom:1px solid var(--line)}tbody tr+tr td{border-top:1px solid var(--rule)}
.depth td{border-top:0!important;padding-top:0;padding-bottom:0;line-height:19px}.depth td:first-child,.depth th:first-child{text-align:left}
tr.bid td:first-child{color:var(--buy)}tr.ask td:first-child{color:var(--sell)}
tr.bid .bar i{background:var(--buyback)}tr.ask .bar i{background:var(--sellback)}
.depth th,.depth td{padding-left:8px}.bar{position:relative}.depth td.bar{width:26%}.depth .bar i{position:absolute;right:0;top:1px;bottom:1px}.depth .bar span{position:relative}
tr.own{background:var(--own)}tr.mid td{text-align:center!important;color:var(--ink)!important;font-weight:600;border-top:1px solid var(--line)!important;border-bottom:1px solid var(--line);line-height:24px}
.limits,.lines{list-style:none;margin:0;padding:0}.limits li{margin:0 0 5px}.limits .row{display:flex;justify-content:space-between;gap:10px;flex-wrap:wrap}
.meter{height:4px;border-radius:2px;background:var(--rule);overflow:hidden}.meter i{display:block;height:100%;background:var(--buy)}.meter.fair i{background:var(--fair)}.meter.bad i{background:var(--bad)}
.lines li{padding:1px 0;overflow-wrap:anywhere}.lines li.warn{color:var(--fair)}.lines li.error{color:var(--bad)}
.tabs{display:flex;flex-wrap:wrap;gap:4px;margin-bottom:6px}.tabs button.bid{color:var(--buy)}.tabs button.ask{color:var(--sell)}.tabs .soft{font-size:11px}.tabs button[aria-pressed=true]{background:var(--own)}
.waterfall caption{text-align:left;color:var(--soft);font-size:11px}.waterfall th{text-align:left;width:1%}.waterfall td:nth-child(2){width:1%}.waterfall td.bar{width:98%}
.waterfall .track{position:relative;height:18px}.waterfall .bar i{position:absolute;top:4px;bottom:4px;border-radius:1px;background:var(--soft)}.waterfall .bar i.up{background:var(--spread)}.waterfall .bar i.down{background:var(--sell)}.waterfall .bar i.ink{background:var(--ink)}
.ranges{display:flex;flex-wrap:wrap;gap:4px;margin:0 0 4px}.results li{padding:3px 0}.results li+li{border-top:1px solid var(--rule)}
.figure{display:inline-block;margin-right:14px;white-space:nowrap}.results .figure{white-space:normal}
#books nav{display:flex;flex-wrap:wrap;gap:4px 14px;padding:5px 12px;background:var(--panel);border-bottom:1px solid var(--line)}a{color:var(--buy);text-decoration:none}a:hover{text-decoration:underline}#books a{padding:3px 0;white-space:nowrap}#books [aria-current]{color:var(--ink);font-weight:600}
.desk-grid{display:grid;gap:6px;grid-template-columns:repeat(3,minmax(0,1fr));grid-template-areas:"books books books" "dprofit dinv dreq" "dfills dfills devents"}
.at-desk-books{grid-area:books;overflow-x:auto}.at-desk-profit{grid-area:dprofit}.at-desk-inventory{grid-area:dinv}.at-desk-requests{grid-area:dreq}.at-desk-fills{grid-area:dfills}.at-desk-events{grid-area:devents}.desk-grid .scroll{max-height:400px}
.desk td,.desk th{text-align:left}.desk td{padding-top:4px;padding-bottom:4px}.desk .under{display:block;font-size:11px;color:var(--soft)}#desk-inventory :is(th,td):first-child{text-align:left}
@media(max-width:1500px){.grid{grid-template-areas:
"depth price price price price limits limits"
"depth price price price price regime regime"
"depth inv inv profitc profitc regime regime"
"depth inv inv profitc profitc budgets budgets"
"levels orders orders orders fills fills fills"
"hours hours hours ledger ledger events events"
"profit profit profit hedges hedges events events"
"results results results results results results results"}th,td{padding-left:7px}}
@media(max-width:1250px){#tiles{grid-template-columns:repeat(4,1fr)}.grid{grid-template-columns:repeat(2,minmax(0,1fr));grid-template-areas:"price price" "depth levels" "depth limits" "inv profitc" "orders fills" "regime budgets" "hours hours" "profit profit" "ledger events" "hedges hedges" "results results"}}
@media(max-width:1000px){.desk-grid{grid-template-columns:minmax(0,1fr);grid-template-areas:"books" "dprofit" "dinv" "dreq" "dfills" "devents"}.desk thead{display:none}.desk tr{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:2px 10px;padding:6px 0}.desk tr+tr{border-top:1px solid var(--line)}.desk td{border:0!important;padding:0;white-space:normal;overflow-wrap:anywhere}.desk td::before{content:attr(data-name);display:block;font-size:11px;color:var(--soft)}.desk td:first-child::before{content:none}}
@media(max-width:720px){header{align-items:flex-start}.at{flex-basis:100%;flex-direction:row-reverse;justify-content:flex-end}main{padding:6px 6px 20px}.time{flex-wrap:wrap}#slider{flex-basis:100%}#when{flex:1;text-align:left}#tiles{grid-template-columns:repeat(2,1fr)}
.grid{grid-template-columns:minmax(0,1fr);grid-template-areas:"price" "depth" "regime" "limits" "levels" "orders" "inv" "profitc" "fills" "hours" "profit" "results" "budgets" "ledger" "hedges" "events"}.plot{min-height:220px!important}button{min-height:32px;padding:4px 10px}.read{display:none}
.at-profit table{font-size:12px}.at-profit th,.at-profit td{padding-left:4px}.at-profit :is(th,td):is(:nth-child(6),:nth-child(n+8)){display:none}}
`;
