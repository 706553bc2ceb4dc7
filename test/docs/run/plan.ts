/** What is done with each command of the pages: run as printed, held by another check, or left out with a reason. One that is none of these is a flaw. */
import type { Block, Command, Found } from './found.ts';

/** Words that stand for something of the reader's, and what the runner has for them; the first that matches. */
const STANDS_FOR: readonly (readonly [RegExp, string])[] = [
  [/<command>( --help)?$/, 'check$1'],
  [/--out DIR/, '--out made'],
  [/(config\/)(btc|eth)(_usd\.yaml --tape) DIR/, '$1$2$3 recording-$2_usd'],
  [/queue:models -- --tape DIR/, 'queue:models -- --tape recording-btc_usd'],
  [/ \[seeds\] \[seconds\]/, ' 1 60'],
  [/(hedge:comparison -- --bands \S+) --seeds 20/, '$1 --seeds 2'],
  [/DIR(\.\.\.)?/g, 'tape'],
  [/FILE\.parquet/, 'rows.parquet'],
  [/init FILE/, 'init new.yaml --book btc_mxn --yes'],
  [/backtest -c FILE/, 'backtest -c config/sandbox.yaml'],
  [/-c FILE/, '-c my.yaml'],
  [/A\.yaml B\.yaml/, 'config/sandbox.yaml config/grid.yaml'],
  [/(--mapping docs\/mappings\/books\.yaml --from) PATH/, '$1 recording-of-books'],
  [/--from PATH/, '--from recording'],
  [/new-strategy NAME/, 'new-strategy order-flow'],
  [/"(?:…|\.\.\.)"/, '"looked at it"'],
  // Moments and durations that a run of seconds has.
  [/--at 2\d{3}-\d\d-\d\dT[\d:]+Z/, '--at NOW'],
  [/--from 2\d{3}-\d\d-\d\d\S*/, '--from TODAY'],
  [/--to 2\d{3}-\d\d-\d\d\S*/, '--to TOMORROW'],
  [/--at 5m/, '--at 3s'],
  [/--for (?:60s|10m|1h|24h)/, '--for 8s'],
  // The port is whichever is free.
  [/(--port |127\.0\.0\.1:)8080/g, '$1PORT'],
  [/(--metrics-port )9465/, '$1PORT'],
];

/** What a command needs that a sentence leaves out: matched against the command, added at its end. */
const NEEDS: readonly (readonly [RegExp, RegExp, string])[] = [
  [/ --metrics-port$/, /never/, 'PORT'],
  [/^npx puntas$/, /never/, '--version'],
  [/puntas fleet\b/, / -c /, '-c config/fleet.yaml'],
  [
    /puntas (?:doctor|console|explain|hedges|ledger|report|presence|surveillance|status|pause|cancel|halt|reduce|reload|resume|sentinel|proposals|shadow|webhooks list|webhooks register)\b/,
    / (?:-c|--state) /,
    '-c my.yaml',
  ],
  [/puntas flatten\b/, / -c /, '-c config/hedged.yaml'],
  [/puntas (?:pause|cancel|halt|reduce|resume)\b/, / --(?:reason|preview)\b/, '--reason "looked at it"'],
  [/puntas ledger adjust\b/, / --currency /, '--currency mxn'],
  [/puntas ledger adjust\b/, / --amount /, '--amount 1 --reason "looked at it"'],
  [/puntas init$/, /never/, 'new.yaml --book btc_mxn --yes'],
  [/puntas replay$/, /never/, './state'],
  [/puntas (?:tape|tape --json)$/, /never/, 'tape'],
  [/puntas export\b(?! -c)/, / --(?:tape|state) /, '--tape tape --out rows.csv'],
  [/puntas tune\b/, / -c /, '-c config/tune.yaml'],
  [/puntas promote\b/, / -c /, '-c my.yaml'],
  [/puntas compare\b/, / --tape /, '--tape tape'],
  [/puntas compare\b/, / --(?:out|json)\b/, '--out page.html'],
  [/puntas record\b/, / --out /, '--out made --for 8s'],
  [/puntas scout\b/, / --(?:for|tape|help)\b/, '--for 8s'],
  [/puntas import\b/, / --from /, '--from recording --out made'],
  [/ --book$/, /never/, 'btc_mxn'],
  [/demo\.js$/, /never/, '1 60'],
  [/puntas calibrate$/, /never/, '--flow-seconds 1200'],
];

/** The lists of checks, and what runs them. */
const LISTS: readonly string[] = ['run', 'full', 'runner.sh'];

/** Run by another check of `.ci/run` or `.ci/full`, which has to name it. */
const ELSEWHERE: readonly {
  readonly command: RegExp;
  readonly by: string;
  readonly names: RegExp;
  readonly how: string;
}[] = [
  {
    command: /^npm install --ignore-scripts ccxt@/,
    by: 'ccxt.sh',
    names: /npm install --ignore-scripts/,
    how: 'beside the packed program',
  },
  {
    command: /^puntas record --venue ccxt:/,
    by: 'ccxt.sh',
    names: /puntas record --venue/,
    how: 'of an exchange on this machine',
  },
  { command: /^npm ci && npm start$/, by: 'start.sh', names: /npm ci[\s\S]*npm start/, how: 'in a clean clone' },
  {
    command: /^npm ci(?: && npm run build)?$/,
    by: 'start.sh',
    names: /npm ci/,
    how: 'in a clean clone; the build is part of its `npm start`',
  },
  { command: /^npm ci && npm test$|^npm test\b/, by: 'test.sh', names: /npm test/, how: 'as printed' },
  { command: /^npm run test:slower$/, by: 'test.sh', names: /test:slower/, how: 'as printed' },
  { command: /^npm run test:long$/, by: 'long.sh', names: /test:long/, how: 'as printed' },
  {
    command: /^npx vitest run --project long test\/\S+$/,
    by: 'long.sh',
    names: /npx vitest run --project long/,
    how: 'the whole project',
  },
  { command: /^npm run lint$/, by: 'lint.sh', names: /npm run (?:--silent )?lint|eslint/, how: 'as printed' },
  { command: /^npm run planted/, by: 'planted.sh', names: /planted/, how: 'all of them' },
  {
    command: /^npm run differential\b/,
    by: 'differential.sh',
    names: /npm run (?:--silent )?differential/,
    how: 'all of them, some with fewer operations',
  },
  {
    command: /^npm run queue:truth\b/,
    by: 'truth.sh',
    names: /npm run --silent queue:truth/,
    how: 'the comparison of both readers',
  },
  {
    command: /^npm run mutation/,
    by: 'mutation.sh',
    names: /npm run --silent mutation/,
    how: 'a draw, or what has changed',
  },
  {
    command: /^npm run sim\b/,
    by: 'simulation.sh',
    names: /npm run (?:--silent )?sim/,
    how: '200 seeds and the planted bugs',
  },
  { command: /^npm run chaos\b/, by: 'chaos.sh', names: /npm run (?:--silent )?chaos/, how: 'with fewer kills' },
  {
    command: /^npm run maintenance\b/,
    by: 'maintenance.sh',
    names: /npm run (?:--silent )?maintenance/,
    how: 'for a shorter time',
  },
  {
    command: /^npm run flood(?: |$)/,
    by: 'webhooks.sh',
    names: /npm run (?:--silent )?flood -- /,
    how: 'for ten seconds',
  },
  {
    command: /^puntas (?:tune|worker) .*--queue /,
    by: 'queue.sh',
    names: /test\/queue/,
    how: 'studies and workers on real servers, with other addresses',
  },
  { command: /^npm run flood:attacks$/, by: 'webhooks.sh', names: /flood:attacks/, how: 'as printed' },
  { command: /^npm run flood:holds$/, by: 'webhooks.sh', names: /flood:holds/, how: 'as printed' },
  { command: /^npm run flood:hostile$/, by: 'webhooks.sh', names: /flood:hostile/, how: 'as printed' },
  {
    command: /^npm run golden\b/,
    by: 'golden.sh',
    names: /npm run (?:--silent )?golden/,
    how: 'ten million events, also `--store`',
  },
  {
    command:
      /^npm run (?:bench|calibrate:flow|compare|compare:docs|compare:tuned|hedged:docs|queue:overhead|score:flow|shipped:earnings|tune:search-table)\b/,
    by: 'scripts.sh',
    names: /bench|compare|hedged|queue|score|shipped|tune/,
    how: 'at its smallest size',
  },
  {
    command: /^npm run (?:hedge:comparison|queue:models)$/,
    by: 'scripts.sh',
    names: /hedge:comparison/,
    how: 'at its smallest size',
  },
  { command: /^\.ci\/release\.sh$/, by: 'package.sh', names: /release\.sh/, how: 'without a tag' },
  { command: /^npm run docs:run/, by: 'docs.sh', names: /docs:run/, how: 'this check' },
  {
    command: /^docker compose (?:-f \S+ )?(?:up|exec)\b/,
    by: 'compose.sh',
    names: /test\/compose/,
    how: 'its commands and files as processes, without a Docker daemon; Grafana only its files',
  },
  {
    command: /^docker (?:build|run) /,
    by: 'image.sh',
    names: /buildah/,
    how: 'the same `Dockerfile` and limits by buildah, without a Docker daemon',
  },
];

/** Not run at all. */
const LEFT_OUT: readonly { readonly command: RegExp; readonly why: string }[] = [
  { command: /puntas alert test/, why: 'needs somebody who is told; `test/cli/run/alerts.test.ts` is one' },
  { command: /^docker (?:inspect|exec)$/, why: 'named in a sentence; needs a Docker daemon' },
  { command: /^docker buildx /, why: 'needs BuildKit; `.ci/image.sh` compares two builds by buildah' },
  { command: /^kubectl /, why: 'needs a cluster; `.ci/compose.sh` holds the file against its schema' },
  { command: /^npm version /, why: 'makes a release: a commit and a tag' },
  {
    command: /^npm publish$|^npm install puntas@VERSION$|^npm audit signatures$/,
    why: 'needs a published release; `test/ci/release.test.ts` has a registry',
  },
  { command: /^timedatectl /, why: "sets this machine's clock" },
  { command: /^chown (?:-R )?65532 /, why: "changes the reader's own files for the container's user" },
  { command: /fleet\/soak\.js/, why: 'takes ten minutes and gigabytes of memory, as the page says' },
  { command: /tapeMemory\.js/, why: 'writes 0.8 GB and takes minutes, as the page says' },
  {
    command: /bench\/(?:scrapes|consoleSoak|openPagesCost|fleetPageCost)\.js/,
    why: 'figures of a quiet machine; nothing holds on a busy one',
  },
  {
    command: /puntas (?:mcp|approve|reject)\b/,
    why: 'needs a program that speaks the protocol, or a proposal of one; `test/cli/run/mcp.test.ts` is both',
  },
  {
    command: /puntas (?:pause|resume) .*--book /,
    why: 'needs a bot with several books; `test/cli/books.test.ts` has one',
  },
  { command: /puntas remote\b/, why: 'needs a Telegram bot; `test/cli/run/remote.test.ts` has one' },
  {
    command: /puntas hedges settle ID/,
    why: 'needs a conversion that nobody can look up; `test/hedge/settle.test.ts` makes one',
  },
];

/** The status line of a bot with orders on both sides. */
export const SHOWN = /bid [\d.]+(?: x\d+)? \| ask [\d.]+.*/;

/** What begins and goes on until Ctrl-C, and the words by which one knows that it does what it is for. */
const STAYS: readonly (readonly [RegExp, RegExp])[] = [
  // The page shows a fill of it.
  [/npm start$/, /as maker/],
  [/puntas run\b/, SHOWN],
  [/puntas exchange\b/, /operatorToken +\S+/],
  [/puntas record\b/, /\d+ rows \(/],
  [/puntas console\b/, /console of \S+ at http:\/\/\S+/],
  [/puntas shadow\b(?!.* --once)/, /shadow: following the recordings in \S+/],
  [/puntas fleet\b(?!.* --(?:json|once))/, /fleet of \d+ bots at http:\/\/\S+/],
  [/puntas sentinel\b/, /sentinel: watching \S+ on \S+, with the state directory \S+/],
];

/** What is to be read on the screen afterwards, where a code of 0 says too little. */
const SHOWS: readonly (readonly [RegExp, RegExp])[] = [
  [/ --help$/, /^Usage: (?:npx )?puntas \w+/m],
  [/puntas check-strategy\b(?!.*--help)/, /^pass {2}/m],
  [/puntas check\b/, /# quotes that the bot would place now/],
  [/puntas init\b/, /^written: \S+\.yaml; check this file/m],
  [/puntas doctor\b.* --order/, /order +buy [^]*:\s+accepted\s+and\s+canceled[^]* 0 fail/],
  [/puntas doctor\b.* --json/, /^\{"pass":\d+,"warn":\d+,"fail":0,/m],
  [/puntas doctor\b/, /\d+ pass, \d+ warn, 0 fail/],
  [/puntas (?:run|check)\b.* --paper\b/, /paper/],
  [/puntas explain\b.* --json/, /^\{"at":.*"fair":\{.*"difference":null/m],
  [/puntas explain\b(?!.* --json)/, /^regime: \w/m],
  [/puntas ledger --json|puntas ledger -c my.yaml --json/, /^\{"state":/m],
  [/puntas ledger\b.*--csv > /, /^$|npm/],
  [/puntas ledger\b.*--csv$/, /^at,source,cause,currency,amount,price,why/m],
  [/puntas ledger -c my\.yaml(?: --currency mxn)?$/, /^difference +-?[\d.]+/m],
  [/puntas report\b.* --json/, /^\{"book":/m],
  [/puntas report\b.* --out/, /^page: /m],
  [/puntas report\b/, /^total +\d+/m],
  [/puntas presence\b.* --out/, /^page: /m],
  [/puntas (?:presence|surveillance)\b.* --json/, /^\{"book":/m],
  [/puntas presence\b/, /SHA-256 of the recordings:\s+[0-9a-f]{64}/],
  [/puntas surveillance\b/, /order flow of the bot on \S+, by UTC day/],
  [/puntas conformance\b.* --json/, /^\{"pass":\d+,"fail":0,/m],
  [/puntas conformance\b/, /\d+ pass, 0 fail/],
  [/puntas export -c/, /\d+ rows? of (?:fills|ledger)/],
  [/puntas halt\b(?!.* --cancel)/, /^halted: /m],
  [/puntas halt\b.* --cancel/, /no order of [^\n]*is left|verified/],
  [/puntas reduce\b(?!.* --preview)/, /quotes only to reduce inventory/],
  [/puntas reload\b.* --json/, /^\{"end":"nothing to do"/m],
  [/puntas reload\b/, /^ +now +then$|nothing has changed/m],
  [/puntas resume\b(?!.* --preview)/, /lifted|the pause has ended/],
  [/puntas pause\b(?!.* --(?:preview|json))/, /^paused; /m],
  [/puntas status\b(?!.* --json)/, /^ +regime +\w/m],
  [/puntas replay\b/, /all commands identical/],
  [/puntas backtest\b.* --json/, /^\{.*"models":\[/m],
  [/puntas tape\b.* --json/, /^\{"dir":/m],
  [
    /puntas scout\b(?!.* --json)/,
    /^(?:Quoting is not (?:known to be )?profitable in any book: |There was no data, |Quoting is profitable in \d+ of \d+ books?\. )/m,
  ],
  [/puntas scout\b.* --json/, /^\{"made":.*"leftOut":\[/m],
  [/^jq /, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \w/m],
  [/pino-pretty/, /INFO.*: quoting/],
  [/^curl .*operator/, /"status":"PENDING"/],
  [/puntas promote\b/, /promotion/],
  [/puntas webhooks register\b/, /^registered as \S+ for /m],
];

export type Planned = {
  /** As printed, and as typed here. */
  readonly text: string;
  readonly typed: string;
  readonly places: string[];
  readonly stays: RegExp | null;
  readonly shows: RegExp | null;
};

export type Session = {
  readonly name: string;
  readonly page: string;
  /** One block, in its order: what goes on in it goes on beside what follows. */
  readonly block: boolean;
  readonly commands: Planned[];
  /** A bot runs beside it. */
  readonly beside: boolean;
};

export type Plan = {
  readonly sessions: readonly Session[];
  readonly elsewhere: readonly {
    readonly text: string;
    readonly by: string;
    readonly how: string;
    readonly places: string[];
  }[];
  readonly leftOut: readonly { readonly text: string; readonly why: string; readonly places: string[] }[];
  /** What nobody has thought of, and what was thought of and is not there any more. */
  readonly flaws: readonly string[];
};

const BESIDE =
  /puntas (?:calibrate --fills|status|pause|cancel|flatten|console|explain|hedges|ledger|report|presence|surveillance|export -c|halt|reduce|reload|resume|replay|sentinel|shadow|webhooks|import --from \.\/state)\b/;
/** A word that only the reader can fill in. */
const UNFILLED = /\b[A-Z]{2,}\b(?!=)|…|<\w+>|\[[^\]]*\]/;
const FILLED_WHEN_RUN = /\b(?:NOW|TODAY|TOMORROW|PORT|ID)\b|\$TOKEN|PUNTAS_\w+/g;

const placeOf = ({ page, line }: Block | Command): string => `${page}:${line}`;
const firstOf = <T>(table: readonly (readonly [RegExp, T])[], text: string): T | null =>
  table.find(([command]) => command.test(text))?.[1] ?? null;

function typedOf(text: string): string {
  let typed = text;
  for (const [word, meant] of STANDS_FOR) typed = typed.replace(word, meant);
  for (const [command, has, added] of NEEDS) if (command.test(typed) && !has.test(typed)) typed = `${typed} ${added}`;
  return typed;
}

function plannedOf(command: Command): Planned {
  const typed = typedOf(command.text);
  const stays = / --for /.test(typed) || / --help$/.test(typed) ? null : firstOf(STAYS, typed);
  return { text: command.text, typed, places: [placeOf(command)], stays, shows: firstOf(SHOWS, typed) };
}

/** `script` gives the text of a script in `.ci`, or null if neither `.ci/run` nor `.ci/full` runs it. */
export function planOf(found: Found, script: (name: string) => string | null): Plan {
  const flaws: string[] = [];
  const sessions = new Map<string, Session>();
  const elsewhere = new Map<string, Plan['elsewhere'][number]>();
  const leftOut = new Map<string, Plan['leftOut'][number]>();
  const planned = new Map<string, Planned>();
  const used = new Set<RegExp>();
  const inBlock = (command: Command) => command.session !== command.page;

  // Those in blocks first: the same words in a sentence, with or without npx, are then run already.
  for (const command of [...found.commands].sort((a, b) => Number(inBlock(b)) - Number(inBlock(a)))) {
    const { text } = command;
    const out = LEFT_OUT.find(row => row.command.test(text));
    const other = ELSEWHERE.find(row => row.command.test(text));
    const check = /^\.ci\/(\S+)/.exec(text)?.[1];
    for (const row of [...STANDS_FOR, ...NEEDS]) if (row[0].test(text.replaceAll('\n', ' '))) used.add(row[0]);
    if (out) {
      used.add(out.command);
      const row = leftOut.get(text) ?? { text, why: out.why, places: [] };
      leftOut.set(text, row);
      row.places.push(placeOf(command));
    } else if (other || check !== undefined) {
      const by = other?.by ?? check!;
      const words = LISTS.includes(by) ? '' : script(by);
      if (other) used.add(other.command);
      if (words === null)
        flaws.push(`${placeOf(command)}: neither .ci/run nor .ci/full runs .ci/${by}, which should hold \`${text}\``);
      else if (other && !other.names.test(words)) flaws.push(`${placeOf(command)}: .ci/${by} does not run \`${text}\``);
      const row = elsewhere.get(text) ?? { text, by: `.ci/${by}`, how: other?.how ?? 'itself', places: [] };
      elsewhere.set(text, row);
      row.places.push(placeOf(command));
    } else {
      const one = plannedOf(command);
      for (const row of NEEDS) if (row[0].test(one.typed)) used.add(row[0]);
      const unfilled = UNFILLED.exec(one.typed.replace(/"[^"]*"|'[^']*'/g, '').replace(FILLED_WHEN_RUN, ''));
      if (unfilled) flaws.push(`${placeOf(command)}: \`${text}\`: nothing stands for ${unfilled[0]}`);
      const key = one.typed.replaceAll('npx puntas', 'puntas');
      const same = planned.get(key);
      if (same && !inBlock(command)) same.places.push(...one.places);
      else {
        // Each part of a chain is run with it.
        for (const part of [key, ...key.split(' && ')]) planned.set(part, planned.get(part) ?? one);
        // Those of sentences that are about a running bot share one; the others have a clone without.
        const beside = BESIDE.test(one.typed);
        const name = beside && !inBlock(command) ? `${command.page} beside a bot` : command.session;
        const session = sessions.get(name) ?? {
          name,
          page: command.page,
          block: inBlock(command),
          commands: [],
          beside,
        };
        session.commands.push(one);
        sessions.set(name, { ...session, beside: session.beside || beside });
      }
    }
  }
  for (const [table, what] of [
    [LEFT_OUT.map(row => row.command), 'left out'],
    [ELSEWHERE.map(row => row.command), 'held by another check'],
    [STANDS_FOR.map(row => row[0]), 'given a meaning'],
    [NEEDS.map(row => row[0]), 'given what it needs'],
  ] as const)
    for (const command of table) if (!used.has(command)) flaws.push(`${command} is ${what}, and no page has it`);

  // A block that starts its own bot needs none beside it.
  const all = [...sessions.values()].map(session =>
    session.block && session.commands.some(({ stays, typed }) => stays && /puntas run\b/.test(typed))
      ? { ...session, beside: false }
      : session,
  );
  return { sessions: all, elsewhere: [...elsewhere.values()], leftOut: [...leftOut.values()], flaws };
}
