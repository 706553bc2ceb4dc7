/** A bot in virtual time whose configuration file can be changed and reloaded while it runs. */
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { replay } from '../../../src/app/inspect/replayCheck.ts';
import { loadConfig } from '../../../src/config.ts';
import type { MailMessage } from '../../../src/live/mailbox/kinds.ts';
import { ReloadBox } from '../../../src/live/mailbox/mailbox.ts';
import { inProcessStream } from '../../../src/sandbox/stream/streamInProcess.ts';
import { shippedConfig } from '../../../src/wiring/configFile.ts';
import { UsageError } from '../../../src/wiring/usageError.ts';
import { started, worldOf, type RunChanges, type Running, type World } from '../world.ts';

const SECOND = 1_000;

export type Tree = Record<string, Record<string, unknown>>;

export class ReloadedBot {
  readonly world: World;
  /** Text of the configuration file. */
  text: string;
  running!: Running;
  #asked = 0;

  constructor(seed: number, name = 'sandbox') {
    this.world = worldOf(seed, {}, name);
    const tree = parse(readFileSync(shippedConfig(name), 'utf8')) as Tree;
    // Amounts as they are configured, whatever is held.
    delete (tree['strategy']!['skew'] as Record<string, unknown>)['sizeRange'];
    this.text = stringify({ ...tree, metrics: { port: 0 }, state: { dir: this.world.stateDir } });
  }

  read() {
    const loaded = loadConfig(this.text, 'my.yaml');
    if (!loaded.ok) throw new UsageError(loaded.errors);
    return { config: loaded.config, text: this.text };
  }

  async start(changes: RunChanges = {}): Promise<void> {
    const { config: given } = this.read();
    const stream = inProcessStream(this.world.box.exchange.stream, this.world.clock);
    const source = { file: 'my.yaml', given, read: () => this.read(), inspect: () => this.read() };
    this.running = await started(this.world, { stream, source, config: given, ...changes });
    await this.world.clock.advance(10 * SECOND);
  }

  change(changes: Tree): void {
    const tree = parse(this.text) as Tree;
    for (const [section, keys] of Object.entries(changes))
      tree[section] = typeof keys === 'object' ? { ...tree[section], ...keys } : keys;
    this.text = stringify(tree);
  }

  async ask(isPreview = false, digest: string | null = null, reason = 'a test'): Promise<MailMessage<'reloadAnswer'>> {
    const { clock, stateDir } = this.world;
    const box = new ReloadBox(stateDir);
    const id = `ask-${this.#asked++}`;
    box.put({ id, at: clock.now(), by: 'ann', reason, digest, isPreview });
    for (let ms = 0; ms < 200_000; ms += 100) {
      await clock.advance(100);
      const answer = box.answered();
      if (answer?.id === id) return answer;
    }
    throw new Error('no answer');
  }

  ours(): { side: string; price: number; id: string }[] {
    const { box } = this.world;
    return [...box.exchange.venue.accounts.get(box.account.id)!.active.values()].map(({ side, price, originId }) => ({
      side,
      price,
      id: originId!,
    }));
  }

  replayed(): string {
    const lines: string[] = [];
    replay(this.world.stateDir, 'all', line => lines.push(line));
    return lines.join('\n');
  }

  /** Seconds without an order of ours. */
  async away(seconds: number): Promise<number> {
    let away = 0;
    for (let ms = 0; ms < seconds * SECOND; ms += 100) {
      await this.world.clock.advance(100);
      if (this.ours().length === 0) away += 0.1;
    }
    return away;
  }

  async end() {
    const result = await this.running.stop();
    expect(result).toMatchObject({ left: [], failure: null, summary: { ledgerMatches: true, openOrdersLeft: 0 } });
    expect(this.replayed()).not.toContain('DIFFERENT');
    this.world.end();
    return result;
  }
}
