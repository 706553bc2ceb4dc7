/** The command `shadow`, which compares a bot with its models while it runs. */
import { constants, setPriority } from 'node:os';
import { Option, type Command } from 'commander';
import { textOfError } from '../../src/core/index.ts';
import { LEVEL_MODELS, type LevelModelName } from '../../src/fills/index.ts';
import { realClock } from '../../src/live/realClock.ts';
import { EXIT } from '../../src/messages/exits.ts';
import { timeText } from '../../src/messages/timeText.ts';
import { serveMonitor } from '../../src/monitor/index.ts';
import { readConfig, refuseBooks } from '../../src/wiring/configFile.ts';
import { jsonBeside, pageParts, writePage } from '../../src/wiring/outFiles.ts';
import { UsageError } from '../../src/wiring/usageError.ts';
import { ofBot, paperHint } from '../../src/cli/commands/botFlags.ts';
import { portFlag } from '../../src/cli/terminal/flags.ts';
import { print, printError } from '../../src/cli/terminal/output.ts';
import { signalsToStop } from '../../src/cli/terminal/signals.ts';
import { shadowRuns, type ShadowNow } from '../app/shadow/shadow.ts';
import { shadowMetrics } from '../shadow/metrics.ts';
import { shadowPage } from '../shadow/page.ts';
import { shadowReport, type ShadowReport } from '../shadow/report.ts';
import { alarmText, shadowLines } from '../shadow/summary.ts';

type ShadowFlags = {
  config: string;
  state?: string;
  paper: boolean;
  once: boolean;
  model: LevelModelName;
  metricsPort?: number;
  out?: string;
  json: boolean;
};

/** Minimum interval at which the page is rewritten, in ms. */
const PAGE_EVERY_MS = 60_000;

/**
 * Adds `shadow`, which runs until stopped, or with --once to the end of the recordings. With --once, it exits with 1 if
 * a decision differs or an alarm is raised. Wrong use is a `UsageError`.
 */
export function addShadowCommand(program: Command): void {
  ofBot(program.command('shadow').description('compare a bot with its models while it runs'), 'file')
    .option('--once', 'replay all recordings from scratch, then exit', false)
    .addOption(new Option('--model <name>', 'fill model').choices(LEVEL_MODELS).default('expected'))
    .option('--metrics-port <n>', 'serve metrics on this port, 0 for any free port', portFlag)
    .option('--out <file>', 'write NAME.html and NAME.json, every minute and at exit')
    .option('--json', 'print one JSON object', false)
    .action(async (flags: ShadowFlags) => {
      const { config: file, state, paper, once, model, metricsPort, out, json } = flags;
      if (out !== undefined && !/\.html?$/i.test(out))
        throw new UsageError(`--out: expected a name that ends in .html, found ${JSON.stringify(out)}`);
      const signals = signalsToStop('leaving', EXIT.clean);
      const given = readConfig(file);
      refuseBooks(given, 'the command shadow');
      const hint = state === undefined && !paper ? paperHint(given) : null;
      if (hint !== null) printError(hint);
      const dir = state ?? (paper ? given.paper.stateDir : given.state.dir);
      setPriority(constants.priority.PRIORITY_LOW);
      const clock = realClock();
      const stop = new AbortController();
      signals.tell(() => stop.abort());
      let latest: ShadowNow | null = null;
      let writtenAt = -Infinity;
      const report = (now: ShadowNow): ShadowReport | null =>
        now.instrument === null ? null : shadowReport(now.stored.memory, now.instrument, model, now.runs);
      const write = (now: ShadowNow): void => {
        const written = out === undefined ? null : report(now);
        if (out === undefined || written === null) return;
        writtenAt = clock.elapsed();
        writePage(out, jsonBeside(out), written, () => shadowPage(written, pageParts()));
      };
      const monitor =
        metricsPort === undefined
          ? null
          : await serveMonitor({
              page: {
                text: () => {
                  const shown = latest && report(latest);
                  const at = latest?.at ?? null;
                  const behindSeconds = at === null ? null : (clock.now() - at) / 1_000;
                  const counts = latest?.stored.memory.alarmCounts ?? {};
                  return Promise.resolve(shown ? shadowMetrics(shown, counts, { behindSeconds }) : '');
                },
              },
              host: given.metrics.host,
              allowedHosts: given.metrics.allowedHosts,
              port: metricsPort,
              notReady: () =>
                latest?.isCaughtUp === true ? [] : ['the shadow has not processed every recorded line yet'],
            });
      if (!once) printError(`shadow: following the recordings in ${dir}`);
      if (monitor !== null) printError(`shadow: metrics at ${monitor.url}/metrics`);
      try {
        const last = await shadowRuns({
          ...{ dir, model, clock, once, signal: stop.signal },
          onAlarm: alarm => printError(`shadow: ${timeText(alarm.at)} ${alarmText(alarm)}; see docs/shadow.md`),
          onTrouble: line => printError(`shadow: ${line}`),
          onSlice: now => {
            latest = now;
            if (once || !now.isCaughtUp || clock.elapsed() - writtenAt < PAGE_EVERY_MS) return;
            try {
              write(now);
            } catch (error) {
              // Alarms do not need the HTML report, so a full disk must not end the shadow.
              printError(`shadow: ${textOfError(error)}`);
            }
          },
        });
        const shown = report(last);
        if (shown === null)
          throw new UsageError(
            `${dir}: has no recording of a run that read the rules of its book; start the bot, or check -c, --state and --paper`,
          );
        write(last);
        print(json ? JSON.stringify(shown) : shadowLines(shown).join('\n'));
        process.exitCode = once && (shown.raised.length > 0 || shown.alarms.length > 0) ? EXIT.broken : EXIT.clean;
      } finally {
        await monitor?.close();
      }
    });
}
