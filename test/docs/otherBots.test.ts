/** The pages for users of other bots: each documented parameter of theirs has a row, and each key of ours exists. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { COMMAND_FILES } from '../../src/cli/commands/index.ts';
import { strategies } from '../../strategies/index.ts';

const textOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const PAGES = ['docs/from-hummingbot.md', 'docs/from-other-bots.md'] as const;
const [HUMMINGBOT, OTHERS] = PAGES.map(textOf) as [string, string];

type Schema = {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
};
/** Every key below a schema, with its section, as `limits.priceMove.bps`. */
function keysOf({ properties, additionalProperties, items, anyOf, oneOf, allOf }: Schema, at = ''): readonly string[] {
  const nested = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? []), ...(items ? [items] : [])];
  return [
    ...nested.flatMap(one => keysOf(one, at)),
    ...(typeof additionalProperties === 'object' ? keysOf(additionalProperties, at) : []),
    ...Object.entries(properties ?? {}).flatMap(([name, one]) => [`${at}${name}`, ...keysOf(one, `${at}${name}.`)]),
  ];
}
const KEYS = new Set(keysOf(JSON.parse(textOf('config/schema.json')) as Schema));
const COMMANDS = COMMAND_FILES.flatMap(({ names }) => names);
const VARIABLES = textOf('docs/environment.md');

/** Whether a word in code type is a key, a command, a variable of the environment or a strategy. */
function isOurs(word: string): boolean {
  const command = /^puntas ([a-z-]+)/.exec(word)?.[1];
  if (command !== undefined) return COMMANDS.includes(command);
  if (word.startsWith('PUNTAS_')) return VARIABLES.includes(`\`${word.replace(/_FILE$/, '')}\``);
  return KEYS.has(word) || KEYS.has(`strategy.${word}`) || word in strategies;
}

type Row = { readonly theirs: readonly string[]; readonly ours: string };
/** Rows of the tables of a page or a section, without heads. */
const rowsOf = (page: string): readonly Row[] =>
  [...page.matchAll(/^\| (.+?) +\| (.+?) +\|$/gm)]
    .map(([, theirs, ours]) => ({ theirs: theirs!.split(', '), ours: ours! }))
    .filter(({ ours }) => ours !== 'Puntas');
const sectionOf = (title: string): string => {
  const [, after] = OTHERS.split(`\n## ${title}\n`) as [string, string];
  return after.split('\n## ')[0]!;
};

const words = (text: string): readonly string[] => text.trim().split(/\s+/);
/** Source: docs/configuration.md (table of parameters) of github.com/freqtrade/freqtrade at c9ae5e1e. */
const FREQTRADE = words(`
  max_open_trades stake_currency stake_amount tradable_balance_ratio available_capital amend_last_stake_amount
  last_stake_amount_min_ratio amount_reserve_percent timeframe fiat_display_currency dry_run dry_run_wallet
  cancel_open_orders_on_exit process_only_new_candles minimal_roi stoploss trailing_stop trailing_stop_positive
  trailing_stop_positive_offset trailing_only_offset_is_reached fee futures_funding_rate trading_mode margin_mode
  liquidation_buffer unfilledtimeout.entry unfilledtimeout.exit unfilledtimeout.unit unfilledtimeout.exit_timeout_count
  entry_pricing.price_side entry_pricing.price_last_balance entry_pricing.use_order_book entry_pricing.order_book_top
  entry_pricing.check_depth_of_market.enabled entry_pricing.check_depth_of_market.bids_to_ask_delta
  exit_pricing.price_side exit_pricing.price_last_balance exit_pricing.use_order_book exit_pricing.order_book_top
  custom_price_max_distance_ratio use_exit_signal exit_profit_only exit_profit_offset ignore_roi_if_entry_signal
  ignore_buying_expired_candle_after order_types order_time_in_force position_adjustment_enable
  max_entry_position_adjustment exchange.name exchange.key exchange.secret exchange.password exchange.uid
  exchange.pair_whitelist exchange.pair_blacklist exchange.ccxt_config exchange.ccxt_sync_config
  exchange.ccxt_async_config exchange.enable_ws exchange.markets_refresh_interval exchange.skip_open_order_update
  exchange.unknown_fee_rate exchange.log_responses experimental.block_bad_exchanges edge.enabled pairlists
  telegram.enabled telegram.token telegram.chat_id telegram.balance_dust_level telegram.reload
  telegram.notification_settings telegram.allow_custom_messages webhook.enabled webhook.url webhook.entry
  webhook.entry_cancel webhook.entry_fill webhook.exit webhook.exit_cancel webhook.exit_fill webhook.status
  webhook.allow_custom_messages api_server.enabled api_server.listen_ip_address api_server.listen_port
  api_server.verbosity api_server.username api_server.password api_server.ws_token bot_name
  external_message_consumer initial_state force_entry_enable disable_dataframe_checks internals.process_throttle_secs
  internals.heartbeat_interval internals.sd_notify strategy strategy_path recursive_strategy_search user_data_dir
  db_url logfile add_config_files dataformat_ohlcv dataformat_trades reduce_df_footprint
`);
/**
 * Parameters of a side and its strategies, and those of live trading that concern orders. Source: docs/configuration.md,
 * configs/examples and src/config/migrations/trailing_grid_v7.py of github.com/enarjord/passivbot at 9394a510.
 */
const PASSIVBOT = words(`
  double_down_factor threshold_base_pct threshold_we_weight threshold_volatility_1h_weight
  threshold_volatility_1m_weight retracement_base_pct retracement_we_weight retracement_volatility_1h_weight
  retracement_volatility_1m_weight volatility_ema_span_1h volatility_ema_span_1m initial_ema_dist ema_gate_mode
  initial_qty_pct qty_pct ema_span_0 ema_span_1 grid_double_down_factor grid_spacing_pct grid_spacing_we_weight
  grid_spacing_volatility_weight trailing_double_down_factor trailing_grid_ratio trailing_retracement_pct
  trailing_retracement_we_weight trailing_retracement_volatility_weight trailing_threshold_pct
  trailing_threshold_we_weight trailing_threshold_volatility_weight volatility_ema_span_hours grid_markup_start
  grid_markup_end grid_qty_pct trailing_qty_pct base_qty_pct entry_double_down_factor offset offset_psize_weight
  offset_volatility_1h_weight offset_volatility_1m_weight offset_volatility_ema_span_1h offset_volatility_ema_span_1m
  entry_cooldown_minutes n_positions position_exposure_enforcer_enabled position_exposure_enforcer_threshold
  total_exposure_enforcer_enabled total_exposure_enforcer_policy total_exposure_enforcer_threshold
  total_exposure_entry_gate_enabled total_wallet_exposure_limit we_excess_allowance_mode we_excess_allowance_pct
  hsl.enabled hsl.red_threshold hsl.ema_span_minutes hsl.cooldown_minutes_after_red hsl.tier_ratios.orange
  hsl.orange_tier_mode hsl.panic_close_order_type hsl.restart_after_red_policy unstuck.close_pct unstuck.ema_dist
  unstuck.enabled unstuck.loss_allowance_pct unstuck.threshold forager.score_weights forager.volume_drop_pct
  approved_coins ignored_coins coin_overrides minimum_coin_age_days filter_by_min_effective_cost leverage hedge_mode
  margin_mode_preference forced_mode_long forced_mode_short auto_gs execution_delay_seconds order_match_tolerance_pct
  order_replacement_churn_gate_window_minutes market_orders_allowed market_order_near_touch_threshold time_in_force
  max_n_creations_per_batch max_n_cancellations_per_batch max_concurrent_api_requests recv_window_ms
  max_realized_loss_pct pnls_max_lookback_days balance_override user
`);
/** Source: doc/MANUAL.md of github.com/ctubio/Krypto-trading-bot at f592cc3c; choices of `mode`, `safety` and `fv` too. */
const KRYPTO = words(`
  % Join Top Mid HamelinRat Depth PingPong PingPoing Boomerang AK-47 bullets range pingAt pongAt bw? bwSize %w? width
  widthPing widthPong orderPctTot exp bidSize askSize maxBidSize? maxAskSize? BBO wBBO rwBBO apMode short medium long
  verylong sensibility tbp pDivMode pDiv pDivMin apr aprFactor sop sopWidth sopTrades sopSize trades /sec ewmaPrice?
  ewmaWidth? periods ewmaTrend? threshold ultra micro stdev factor BB? cxl? lifetime profit Kmemory delayUI audio?
`);

/** Whether a name in a first column stands for a parameter: `a…` for all that begin with a, `mode X` for the choice X. */
const standsFor = (name: string, parameter: string): boolean =>
  name.endsWith('…') ? parameter.startsWith(name.slice(0, -1)) : name.replace(/^(?:mode|safety|fv) /, '') === parameter;

describe('each documented parameter', () => {
  test.each([
    ['freqtrade', FREQTRADE],
    ['passivbot', PASSIVBOT],
    ['Krypto-trading-bot', KRYPTO],
  ] as const)('of %s has one row, and each name of a row is such a parameter', (title, parameters) => {
    const names = rowsOf(sectionOf(title)).flatMap(({ theirs }) => theirs);
    const rowsFor = (parameter: string): number => names.filter(name => standsFor(name, parameter)).length;
    expect(parameters.filter(parameter => rowsFor(parameter) === 0)).toEqual([]);
    expect(parameters.filter(parameter => names.includes(parameter) && rowsFor(parameter) > 1)).toEqual([]);
    const known = [...parameters, 'Inverse Join', 'Inverse Top'];
    expect(names.filter(name => !known.some(parameter => standsFor(name, parameter)))).toEqual([]);
  });
});

test.each([HUMMINGBOT, OTHERS])('each key, command, variable and strategy that is named exists', page => {
  const found = rowsOf(page).flatMap(({ ours }) => [...ours.matchAll(/`([^`]+)`/g)].map(([, word]) => word!));
  const prose = [...page.replace(/^\|.*$/gm, '').matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
  expect(found.length).toBeGreaterThan(20);
  expect([...found, ...prose].filter(word => !isOurs(word))).toEqual([]);
  for (const word of ['limits.positionMax', 'skew.sizeRange', 'reference.sources', 'hedge.band'])
    expect(isOurs(word)).toBe(true);
  for (const word of ['limits.none', 'puntas nothing', 'PUNTAS_NONE', 'skew'])
    expect(isOurs(word)).toBe(word === 'skew');
});
