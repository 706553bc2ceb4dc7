// Tests: everything under test/ that is called *.test.ts. Where a test needs recordings, PUNTAS_DATA says where they lie.
import { statfsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const ROOT = fileURLToPath(new URL('.', import.meta.url));
const PROGRAM = 'test/cli/**/*.test.ts';
// The program's tests that take longest, most of it real time or starts: `.ci/full` has them, `npm test` does not (`npm run test:long`).
const LONG = [
  'actions',
  'backtest/backtest',
  'backtest/compare',
  'badInput',
  'build',
  'cannotQuote',
  'compliance',
  'consoleMetrics',
  'doctor',
  'failedStart',
  'hardening',
  'hedged',
  'init',
  'oldNames',
  'package',
  'output',
  'processLimits',
  'promote',
  'promotePlanted',
  'reload',
  'ruleChange',
  'run/alerts',
  'run/livePrice',
  'run/paper',
  'run/stops',
  'run/tape',
  'scout',
  'scripts/golden',
  'tapes/record',
  'tapes/storedTape',
  'tune',
  'tunePlanted',
].map(name => `test/cli/${name}.test.ts`);
// Whole recordings, millions of rows, against other readers: `npm run test:long` too.
const RECORDINGS = [
  ...['append', 'independent', 'mapping', 'recordings'].map(name => `test/tape/${name}.test.ts`),
  // Two million messages, from ../shared.
  'test/sandbox/matching/publicBenchmark.test.ts',
];
// Properties over a hundred seeds, half an hour of a real server, whole studies, hours of the built-in market again and again: minutes.
const SEEDS = [
  // The runner of CI: processes that wait for each other.
  'test/ci/runner.test.ts',
  'test/backtest/profile/plantedTruth.test.ts',
  'test/backtest/tune/judge/hundredStudies.test.ts',
  'test/backtest/scout/hundredSeeds.test.ts',
  'test/app/console/acrossRuns.test.ts',
  'test/app/console/pageTruth.test.ts',
  'test/backtest/app/scout/scout.test.ts',
  'test/backtest/app/scout/scoutNames.test.ts',
  'test/backtest/app/tune/tune.test.ts',
  'test/config/earningsOfAll.test.ts',
  'test/sandbox/markets/flowTable.test.ts',
  'test/simulation/causes.test.ts',
  'test/simulation/shrink.test.ts',
  // Real time on real sockets.
  'test/krakenDouble/botRun.test.ts',
  'test/live/loop/killedHedges.test.ts',
  'test/toyVenue/toyVenue.test.ts',
];
// Laws that are tried on a few seeds or recordings in `npm test`, and here on all (test/many.ts).
const MANY = [
  'app/inspect/haltNonces',
  'app/inspect/oneProfit',
  'app/inspect/report',
  'app/inspect/settleHedge',
  'app/promote/candidate',
  'app/promote/killed',
  'app/promote/promote',
  'app/promote/shown',
  'app/promote/tradingDigest',
  'backtest/app/promote/checkStage',
  'backtest/app/promote/runEvidence',
  'backtest/app/promote/runMeter',
  'backtest/app/queue/presence',
  'backtest/app/queue/trialThreads',
  'backtest/app/tapeStore/recordingCache',
  'backtest/app/tapeStore/recordingFiles',
  'backtest/app/tune/evidence',
  'backtest/app/tune/interrupted',
  'backtest/app/tune/killed',
  'backtest/collect',
  'backtest/crossingLevels',
  'backtest/externalReference',
  'backtest/fillNotices',
  'backtest/fills',
  'backtest/hedged/plantedEdge',
  'backtest/hedging',
  'backtest/parity',
  'backtest/queueTruth',
  'backtest/replay/metamorphic',
  'backtest/sideBySide',
  'backtest/tune/search/searches',
  'ccxt/texts',
  'config/config',
  'conformance/account',
  'conformance/cancels',
  'conformance/changing',
  'conformance/channels',
  'conformance/conversions',
  'conformance/lookups',
  'conformance/marketData',
  'conformance/openQuestions',
  'conformance/ownTrades',
  'conformance/placing',
  'conformance/rfq',
  'conformance/webhooks',
  'core/accounting/histories',
  'core/accounting/ledger',
  'core/engine/elsewhere',
  'core/engine/engine',
  'core/engine/figureEvidence',
  'core/engine/hedgeDebt',
  'core/engine/ledgerRows',
  'core/engine/parts',
  'core/engine/postOnly',
  'core/engine/restart',
  'core/estimators/basisModel',
  'core/estimators/leadLag',
  'core/hedging/band',
  'core/hedging/elsewherePrice',
  'core/hedging/hedgeChoice',
  'core/hedging/takerOrder',
  'core/marketdata/l3Book',
  'core/orders/histories',
  'core/orders/unknownOrders',
  'core/quoting/adverseSelection',
  'core/quoting/midHistory',
  'core/quoting/normalizeQuote',
  'core/quoting/postOnlyBackoff',
  'core/quoting/pullReasons',
  'core/quoting/reconciledPlan',
  'core/quoting/refusalBackoff',
  'core/quoting/rfqReference',
  'core/risk/pastPrice',
  'exchange/binance/stream',
  'exchange/bitso/joinedAnswers',
  'exchange/kraken/levelBook',
  'exchange/kraken/lists',
  'exchange/kraken/wire',
  'exchange/orderIds',
  'exchange/secrets',
  'exchange/strangeArguments',
  'exchange/transport/budget',
  'exchange/transport/requestSender',
  'hedge/elsewhereDesk',
  'hedge/elsewhereLaws',
  'hedge/hedgerLaws',
  'hedge/roomAndBudget',
  'linear/patterns',
  'live/account/balanceReads',
  'live/account/lateLists',
  'live/account/ledger',
  'live/account/reads',
  'live/account/sameAccount',
  'live/account/strangeRows',
  'live/account/transferSelection',
  'live/demo',
  'live/hedge/hedger',
  'live/loop/charged',
  'live/loop/placeTransfers',
  'live/loop/recordingRotation',
  'live/loop/recovery',
  'live/loop/reload',
  'live/loop/ruleChange',
  'live/loop/stopTruth',
  'live/mailbox/mailbox',
  'live/market/oneSource',
  'live/market/reference',
  'live/safety/cancelAllAndVerify',
  'live/safety/halt',
  'live/safety/latch',
  'live/safety/refusals',
  'live/safety/sentinel',
  'live/safety/sleepWatch',
  'live/state/journal',
  'live/state/lostState',
  'live/tapeRun',
  'marketdata/damagedRows',
  'sandbox/binance/laws',
  'sandbox/desks/deskCapacity',
  'sandbox/desks/rfq',
  'sandbox/desks/webhooks',
  'sandbox/markets/followed',
  'sandbox/markets/linkedFlows',
  'sandbox/markets/recordedMarket',
  'sandbox/markets/recordedMarketOnRecordings',
  'sandbox/matching/matching',
  'sandbox/venue/money',
  'simulation/simulation',
  'strategies/all',
  'strategies/fairValue',
  'strategies/glftOptimum',
  'strategies/grid',
  'strategies/ladder',
  'tape/binance',
  'tape/folderOfFiles',
  'tape/foreign',
  'tape/importedOrders',
  'tape/importers',
  'tape/parquet',
  'tape/seenDepth',
  'tape/session',
  'tape/smallAndLarge',
  'tape/stored',
  'tape/times',
  'tape/window',
  'wiring/place',
  'wiring/placeNonces',
].map(name => `test/${name}.test.ts`);
// What takes a second or more of a core: `.ci/run` has them beside `npm test` (`npm run test:slower`), which is for every step.
const SLOWER = [
  'alerts/causes',
  'app/actions/statusTruth',
  'app/compliance/presence',
  'app/compliance/surveillance',
  'app/doctor/trials',
  'app/inspect/checkElsewhere',
  'app/inspect/report',
  'app/promote/promote',
  'app/run/childProcess',
  'architecture',
  'backtest/app/queue/trialThreads',
  'backtest/app/tapeStore/recordingFiles',
  'backtest/collect',
  'backtest/golden',
  'backtest/hedged/hedgedProfile',
  'backtest/hedged/plantedEdge',
  'backtest/hedging',
  'backtest/parity',
  'backtest/replay/metamorphic',
  'backtest/tune/search/searches',
  'conformance/openQuestions',
  'conformance/parameters',
  'conformance/placing',
  'conformance/webhooks',
  'console/access',
  'core/hedging/band',
  'core/orders/histories',
  'core/orders/orders',
  'docs/generated',
  'docs/interface',
  'docs/supply',
  'exchange/bitso/conformance/conformance',
  'exchange/bitso/fixtures',
  'exchange/secrets',
  'guard/outputFiles',
  'live/account/lateLists',
  'live/account/ledger',
  'live/account/strangeRows',
  'live/demo',
  'live/hedge/crashes',
  'live/hedge/flatten',
  'live/hedge/hedger',
  'live/hedge/pricedRoutes',
  'live/hedge/settle',
  'live/inbox/listener',
  'live/loop/hedgedThere',
  'live/loop/loop',
  'live/loop/recordingRotation',
  'live/loop/recovery',
  'live/loop/reload',
  'live/loop/ruleChange',
  'live/loop/stopTruth',
  'live/market/livePriceRun',
  'live/market/sourceExamples',
  'live/market/stream',
  'live/paper',
  'live/safety/halt',
  'live/safety/latch',
  'live/safety/pause',
  'live/safety/sentinel',
  'live/state/fullDisk',
  'live/state/journal',
  'sandbox/desks/webhooks',
  'sandbox/markets/flow',
  'sandbox/markets/followed',
  'sandbox/markets/linkedFlows',
  'sandbox/venue/auth',
  'simulation/fixedCases',
  'strategies/all',
  'strategies/rollingMarket',
  'tape/bombs',
  'tape/folderOfFiles',
  'tape/foreign',
  'tape/foreignTables',
  'tape/leader',
  'tape/packed',
  'tape/parquet',
  'tape/publicFiles',
  'tape/recorder',
  'tape/session',
  'wiring/placeNonces',
  'wiring/streamedVenues',
].map(name => `test/${name}.test.ts`);
// ccxt in its thread on real sockets: `.ci/ccxt.sh`.
const CCXT = ['ccxtMarket', 'priceSource', 'recordedTapes'].map(name => `test/ccxt/${name}.test.ts`);
// Even a few seeds of these take seconds: they are left to the project of many, and the simulation also to its smoke in `.ci/run`.
const ONLY_MANY = [
  'app/inspect/oneProfit',
  'app/promote/killed',
  'backtest/app/tune/killed',
  'backtest/queueTruth',
  'live/tapeRun',
  'simulation/simulation',
].map(name => `test/${name}.test.ts`);
// Each law runs so many times as often: PUNTAS_RUNS=20 npx vitest run FILE.
const RUNS = Number(process.env.PUNTAS_RUNS ?? 1);
if (!Number.isSafeInteger(RUNS) || RUNS < 1)
  throw new Error(`PUNTAS_RUNS: expected a whole number from 1 on, found "${process.env.PUNTAS_RUNS}"`);
const BUILD = ['test/cli/build.ts'];
const ofTheProgram = { globalSetup: BUILD, testTimeout: RUNS * 300_000 };

// Tests in virtual time write and sync a journal thousands of times a second: in memory where there is room. The program's tests keep the disk.
const SHM = '/dev/shm';
const hasRoom = () => {
  try {
    const { bavail, bsize } = statfsSync(SHM);
    return bavail * bsize > 2e9;
  } catch {
    return false;
  }
};
const TMPDIR = process.env.TMPDIR === undefined && hasRoom() ? `${SHM}/puntas-test-${process.pid}` : undefined;
const inMemory = TMPDIR
  ? { env: { TMPDIR }, globalSetup: [...BUILD, 'test/tmpdirInMemory.ts'] }
  : { globalSetup: BUILD };

// Tests import the built program: compiling each module in each worker took a seventh of the processor time.
const builtProgram = {
  name: 'built-program',
  enforce: 'pre',
  resolveId(source, importer) {
    if (!source.startsWith('.') || importer === undefined) return null;
    const path = relative(ROOT, resolve(dirname(importer), source));
    if (!/^(src|strategies|backtest)\/.*\.ts$/.test(path)) return null;
    return { id: join(ROOT, 'dist', path.replace(/ts$/, 'js')), external: true };
  },
};

const MORE_RUNS = join(ROOT, 'test/moreRuns.ts');
const moreRuns = {
  name: 'more-runs',
  enforce: 'pre',
  resolveId: (source, importer) =>
    RUNS > 1 && source === 'fast-check' && importer !== MORE_RUNS ? { id: MORE_RUNS } : null,
};

export default defineConfig({
  // Coverage is of the sources.
  plugins: [...(process.argv.includes('--coverage') ? [] : [builtProgram]), moreRuns],
  test: {
    server: { deps: { external: [/\/dist\/(src|strategies|backtest)\//] } },
    // For what hangs: nothing here is about speed, and the machine may be busy with others.
    testTimeout: RUNS * 180_000,
    hookTimeout: 180_000,
    // A second by default.
    expect: { poll: { timeout: 60_000 } },
    // A test that passes only the second time is a failing test.
    retry: 0,
    allowOnly: false,
    maxWorkers: '100%',
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'strategies/**/*.ts', 'backtest/**/*.ts'],
      reporter: ['text-summary', 'html'],
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'rooms',
          // No file leaves anything behind for the next one; loading every module anew for each is a third of the time.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [PROGRAM, ...SLOWER, ...RECORDINGS, ...SEEDS, ...CCXT, ...ONLY_MANY],
          ...inMemory,
        },
      },
      { extends: true, test: { name: 'slower', isolate: false, include: SLOWER, ...inMemory } },
      // These run the built program as a user does; it is built once before them.
      {
        extends: true,
        test: { name: 'program', include: [PROGRAM], exclude: LONG, ...ofTheProgram },
      },
      { extends: true, test: { name: 'long', include: LONG, ...ofTheProgram } },
      { extends: true, test: { name: 'recordings', include: RECORDINGS, ...ofTheProgram } },
      { extends: true, test: { name: 'seeds', include: SEEDS, ...ofTheProgram } },
      { extends: true, test: { name: 'ccxt', include: CCXT, ...ofTheProgram } },
      {
        extends: true,
        test: {
          name: 'many',
          isolate: false,
          include: MANY,
          testTimeout: RUNS * 300_000,
          env: { PUNTAS_TEST_MANY: 'true', ...inMemory.env },
          globalSetup: inMemory.globalSetup,
        },
      },
    ],
  },
});
