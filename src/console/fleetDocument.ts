/** HTML and additional CSS of the fleet page. */
import { NAME_MAX } from './page/bounds.ts';

/** Complete HTML file, without any external content. */
export const FLEET_DOCUMENT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fleet · Puntas</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/style.css">
<script src="/preact.js" defer></script>
<script src="/fleet/fleetMain.js" type="module"></script>
</head>
<body class="fleet">
<header><div id="head"></div><div class="tools"><input id="search" type="search" placeholder="search" aria-label="search" autocomplete="off"><button id="theme" type="button">light / dark</button></div></header>
<main>
<div id="warnings" role="status"></div>
<form id="login" hidden><label>Your name <input id="who" autocomplete="username" maxlength="${NAME_MAX}"></label> <label>Viewer token <input id="token" type="password" autocomplete="current-password" required></label> <button type="submit">Log in</button> <span id="login-problem" class="bad" role="alert"></span></form>
<div id="sums"></div>
<section class="panel" aria-label="bots"><div id="bots"></div></section>
</main>
</body>
</html>
`;

/** CSS of the fleet page, in addition to that of the console. */
export const FLEET_STYLE = `
.fleet #search{width:min(220px,40vw);padding:2px 8px}
.fleet #sums{display:grid;gap:6px;margin-bottom:6px}
.fleet .sum{display:grid;gap:6px 24px;grid-template-columns:minmax(220px,1fr) 2fr 2fr}
.fleet .sum b{font-size:17px;line-height:1.35;overflow-wrap:anywhere}.fleet .sum p{margin:0;overflow-wrap:anywhere}
.fleet #login{display:flex;flex-wrap:wrap;align-items:center;gap:8px;margin-bottom:6px}.fleet #login[hidden]{display:none}
.fleet table.bots td{padding-top:3px;padding-bottom:3px}.fleet table.bots td.text{white-space:normal;overflow-wrap:anywhere}
.fleet th button{border:0;padding:0;min-height:24px;font-size:11px;color:inherit}.fleet th button:hover{color:var(--ink)}
.fleet td a{color:var(--ink);font-weight:600;text-decoration:underline;text-decoration-color:var(--line);text-underline-offset:2px}
.fleet td .line{display:block;font-size:11px;max-width:340px}.is-lost #sums,.is-lost #bots{opacity:.45}.fleet tr.gone td{opacity:.75}.fleet tr.gone td:first-child{opacity:1}
@media(max-width:1100px){.fleet .sum{grid-template-columns:1fr}}
@media(max-width:720px){.fleet table.bots,.fleet table.bots :is(thead,tbody){display:block}.fleet table.bots thead tr{display:flex;flex-wrap:wrap;gap:4px;padding:0 0 6px;border:0}.fleet table.bots th{padding:0;border:0}.fleet th button{border:1px solid var(--line);padding:2px 8px;min-height:32px}
.fleet table.bots tbody tr{display:grid;grid-template-columns:1fr 1fr;gap:0 12px;padding:6px 0;border-top:1px solid var(--line)}
.fleet table.bots td{display:flex;justify-content:space-between;gap:8px;border:0!important;padding:1px 0;text-align:right;min-width:0}
.fleet table.bots td::before{content:attr(data-name);color:var(--soft);font-size:11px;white-space:nowrap}
.fleet table.bots td.whole{display:block;grid-column:1/-1;text-align:left}.fleet table.bots td.whole::before{content:none}.fleet table.bots td:empty{display:none}
.fleet td .line{max-width:none}.fleet td a{display:inline-block;min-height:24px}}
`;
