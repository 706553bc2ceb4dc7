/** A bot in virtual time with a strategy file, whose text can be changed and reloaded while it runs, and whose stream can be cut. */
import { readFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { loadConfig, type Config, type FoundStrategyFile } from '../../../src/config.ts';
import type { StreamTransport } from '../../../src/core/index.ts';
import { ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { inProcessStream } from '../../../src/sandbox/stream/streamInProcess.ts';
import { shippedConfig, type StrategyApproval } from '../../../src/wiring/configFile.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { started, worldOf, type Running, type World } from '../world.ts';

/** A transport whose connection can be cut and held down. */
function cuttable(wire: StreamTransport) {
  const lines = new Set<(why: string) => void>();
  const line = { isCut: false, cut: () => void [...lines].forEach(close => close('cut')) };
  const transport: StreamTransport = {
    connect: listener => {
      const live = (call: () => void) => void (lines.has(close) && call());
      const close = (why: string) =>
        live(() => {
          lines.delete(close);
          listener.closed(why);
        });
      lines.add(close);
      return wire.connect({
        open: () => live(() => (line.isCut ? close('cut') : listener.open())),
        text: frame => live(() => listener.text(frame)),
        closed: close,
      });
    },
  };
  return { transport, line };
}

export class OwnBot {
  readonly line: { isCut: boolean; readonly cut: () => void };
  readonly stream: StreamTransport;
  readonly world: World;
  code: string;
  text: string;
  /** Number of times that the bot ran the file to read its configuration. */
  reads = 0;
  running!: Running;
  #asked = 0;

  constructor(seed: number, code: string, keys: object = {}) {
    this.code = code;
    this.world = worldOf(seed);
    const { transport, line } = cuttable(inProcessStream(this.world.box.exchange.stream, this.world.clock));
    [this.stream, this.line] = [transport, line];
    const { skew: _, ...tree } = parse(readFileSync(shippedConfig('sandbox'), 'utf8')) as Record<string, unknown>;
    const strategy = { file: './own.ts', halfSpreadBps: 16, amount: '0.006', levels: 2 };
    this.text = stringify({ ...tree, strategy, metrics: { port: 0 }, state: { dir: this.world.stateDir }, ...keys });
  }

  read(isRun = true, assertApproved: StrategyApproval = () => undefined) {
    const { text } = this;
    const files = {
      isRun,
      read: () => this.code,
      assertMayRun: (found: FoundStrategyFile) => assertApproved(found, text),
    };
    const loaded = loadConfig(text, 'my.yaml', undefined, files);
    if (!loaded.ok) throw new UsageError(loaded.errors);
    return { config: loaded.config, text };
  }

  /** `place`: changes of the configuration that the bot runs with, besides its file. */
  async start(place: (config: Config) => Config = config => config): Promise<this> {
    const { config: given } = this.read();
    const read = (assertApproved: StrategyApproval) => {
      const found = this.read(true, assertApproved);
      this.reads++;
      return found;
    };
    const source = { file: 'my.yaml', given, read, inspect: () => this.read(false) };
    this.running = await started(this.world, { stream: this.stream, source, config: place(given) });
    await this.world.clock.advance(20_000);
    return this;
  }

  async ask(digest: string | null = null, isPreview = false) {
    const { clock, stateDir } = this.world;
    const box = new ReloadBox(stateDir);
    const id = `ask-${this.#asked++}`;
    box.put({ id, at: clock.now(), by: 'ann', reason: 'a test', digest, isPreview });
    for (let ms = 0; ms < 200_000; ms += 100) {
      await clock.advance(100);
      const answer = box.answered();
      if (answer?.id === id) return answer;
    }
    throw new Error('no answer');
  }

  orders(): number {
    const { box } = this.world;
    return box.exchange.venue.accounts.get(box.account.id)!.active.size;
  }

  replayed(): string {
    const lines: string[] = [];
    replay(this.world.stateDir, 'all', line => lines.push(line));
    return lines.join('\n');
  }
}
