/** One word for one thing: private words that the field has no use for do not come back as names (src/README.md, "Words"). */
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { parsed, sourcesIn } from './imports.ts';

/** A word that was given up as a whole name, and what the field says. */
const RETIRED: Readonly<Record<string, string>> = {
  AccountDoor: 'AccountReader',
  AccountPatience: 'AccountDelays',
  actsOn: 'actionableMeaning',
  askAgain: 'unknownOrderResolver',
  asWritten: 'pathInFile',
  balancesSay: 'outcomeFromBalances',
  becameOf: 'takerOrderOutcome',
  brokenOff: 'checkAborted',
  carryOut: 'executeAction',
  cooked: 'toMoney',
  countAgain: 'recountLevel',
  deed: 'action',
  dirt: 'flaws (data quality)',
  Door: 'ApiEndpoint',
  drawnOid: 'randomOid',
  drawnUuid: 'randomUuid',
  earnedBack: 'earningsAtPrice',
  endedAs: 'endNumber',
  equalledButForConversions: 'recordEqualBalances',
  EVENTS_TOLD: 'ALERT_EVENT_NAMES',
  fate: 'state',
  fenceMs: 'requestDelayMaxMs',
  fitToShow: 'maskOutcome',
  Foretold: 'Prediction',
  foretoldOf: 'predictionOf',
  gapCursor: 'gapIterator',
  givingUp: 'startupCleanup',
  guessAgain: 'rematch',
  haltToCome: 'pendingHaltReason',
  hasLeft: 'isInFlight',
  hasMet: 'hasReportedFill',
  hearsay: 'unconfirmed',
  heart: 'heartbeat',
  HedgeRows: 'HedgeHistory',
  heedPromotions: 'assertPromotionsTrusted',
  HouseFill: 'SyntheticFillListener',
  holdAgainst: 'assertEntriesAddUp',
  houseLevels: 'syntheticLiquidity',
  keepBeside: 'superviseChild',
  keepers: 'bestKeptPairs',
  LastingWord: 'StableVerdict',
  lastWordOf: 'stopSummary',
  lean: 'skew, or imbalance',
  leftNow: 'remainingBudget',
  legalise: 'normalizeQuote',
  marginMs: 'quoteLifeMinMs',
  mayMove: 'mayStillExecute',
  middle: 'mid',
  moneyLists: 'transferLists',
  MoneyMoved: 'TransferLine',
  mostForetelling: 'strongestPredictor',
  mostOf: 'confirmableAmount',
  narrator: 'eventLog',
  needsLook: 'needsLookUp',
  needsPerson: 'needsOperator',
  nothingToGoBack: 'nothingToRollBack',
  NotTaken: 'TakerRefusal',
  nowCalled: 'currentKeyName',
  OF_A_SIDE: 'SIDE_SPECIFIC',
  OF_THE_FEE: 'FEE_STEPS',
  paidFor: 'priceForEarnings',
  passedOver: 'unusedBook',
  Patience: 'OrderDelays',
  picture: 'snapshot',
  presentIn: 'lastListedIn',
  pulse: 'heartbeat record',
  RECENT_LEAST: 'RECENT_SIZE_MIN',
  rivals: 'duplicateInstance',
  rungs: 'quoteLevels',
  Seeding: 'SeedResult',
  settleMs: 'tradeReportDelayMaxMs',
  shadow: 'linkedMarket',
  shapedQuotes: 'regimeAdjustments',
  Standing: 'PromotionState',
  StatedWords: 'MappingCheck',
  strangers: 'orphanOrders',
  stubbornLatch: 'retryingLatch',
  TakeBounds: 'TakerLimits',
  takeUp: 'bookAdjustments',
  takeUpHalt: 'applyPendingHalt',
  takeUpReduce: 'applyPendingReduce',
  takeUpSettlements: 'applyPendingSettlements',
  TakenOrder: 'TakerOrderState',
  takenOrderFromNews: 'takerOrderFromNews',
  throughBook: 'sweepCost',
  toldFilled: 'reportedFilled',
  toldOf: 'describeHedge',
  toldOnItsWay: 'replyWithProgress',
  toLeave: 'amountToHedge',
  TouchSeen: 'TopOfBook',
  unheardTrades: 'missingTrades',
  UNSAID: 'NO_MESSAGE',
  UNSHOWN: 'CONTROL_CHARACTERS',
  Unusual: 'RunningDeviation',
  WayOut: 'RouteOption',
  waysOf: 'requestRoutes',
  Weighed: 'ComparedRoute',
  wentBack: 'afterRollback',
  whoIsThere: 'refreshSession',
  whyNotHere: 'accessBlockedReason',
  Whose: 'HeartbeatRole',
  WideWhy: 'WideReason',
  withWhatLives: 'withRemainingOrders',
  witness: 'rfqReference',
};

/** Keys of JSON that is printed, of rows that are kept and of old configurations: what others read stays as it is. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  dirt: [
    'backtest/compare/comparison.ts',
    'backtest/compare/page.ts',
    'backtest/report/page.ts',
    'backtest/report/report.ts',
    'backtest/report/summary.ts',
    'backtest/app/backtest/backtest.ts',
    'backtest/app/severalBooks/severalBooksBacktest.ts',
    'backtest/app/compare/compare.ts',
    'backtest/app/compare/compareSeveralBooks.ts',
    'src/app/tapes/import.ts',
    'src/app/tapes/storedTape.ts',
    'src/tape/import/collectTape.ts',
    'src/tape/import/recording.ts',
  ],
  middle: [
    'backtest/collect/collect.ts',
    'backtest/report/headline.ts',
    'backtest/report/plots.ts',
    'backtest/report/series.ts',
    'src/app/inspect/elsewhereSeen.ts',
    'src/app/inspect/hedges.ts',
    'src/core/hedging/hedgeRow.ts',
    'src/hedge/hedger.ts',
  ],
  // The command of that name.
  shadow: ['src/cli/terminal/examples.ts'],
  witness: ['src/config/renamedKeys.ts'],
};

const files = ['src', 'strategies', 'backtest'].flatMap(sourcesIn);

/** `path: word` of each retired word that is a name in the text, told once. */
function retiredIn(path: string, text: string): readonly string[] {
  const found = new Set<string>();
  // Only a file with such a word anywhere is parsed.
  if (!Object.keys(RETIRED).some(word => text.includes(word))) return [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      const word = node.text.replace(/^#/, '');
      if (Object.hasOwn(RETIRED, word) && FORMATS[word]?.includes(path) !== true)
        found.add(`${path}: ${word}; the word is ${RETIRED[word]}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(parsed(path, text));
  return [...found];
}

describe('a retired word', () => {
  test('is no name in the program', () => {
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(({ path, text }) => retiredIn(path, text))).toEqual([]);
  });

  test('is seen as a local, a field, a parameter and a key, and not within other words or in text', () => {
    const told = (word: string) => [`src/x.ts: ${word}; the word is ${RETIRED[word]}`];
    expect(retiredIn('src/x.ts', 'const lean = 1;')).toEqual(told('lean'));
    expect(retiredIn('src/x.ts', 'class A { #picture = 0; }')).toEqual(told('picture'));
    expect(retiredIn('src/x.ts', 'const f = (middle: number) => middle;')).toEqual(told('middle'));
    expect(retiredIn('src/x.ts', 'const o = { fenceMs: 1 };')).toEqual(told('fenceMs'));
    expect(retiredIn('src/x.ts', "// the middle\nconst clean = 'dirt'; const middleOf = clean;")).toEqual([]);
  });

  test('has an exception only where its format is', () => {
    for (const [word, paths] of Object.entries(FORMATS))
      for (const path of paths)
        expect(files.find(file => file.path === path)?.text, `${path}: ${word}`).toMatch(new RegExp(`\\b${word}\\b`));
  });
});

test('texts of the program that other tools look for in its output are in the program', () => {
  const FOLDERS = ['simulation', 'causes', 'chaos', 'runbook', 'queue', 'browser'];
  const tools = FOLDERS.flatMap(folder => sourcesIn(`test/${folder}`)).filter(({ path }) => !path.endsWith('.test.ts'));
  const sought = tools.flatMap(({ path, text }) =>
    [...text.matchAll(/\.(?:includes|startsWith|endsWith)\('([^'\n]*\w \w[^'\n]*)'\)/g)].map(([, found]) => ({
      path,
      found: found!,
    })),
  );
  expect(sought.length).toBeGreaterThan(3);
  const isSaid = (found: string) => files.some(({ text }) => text.includes(found));
  expect(sought.filter(({ found }) => !isSaid(found))).toEqual([]);
});
