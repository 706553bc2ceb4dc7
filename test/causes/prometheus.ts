/** A Prometheus that scrapes the bots of the check every two seconds, with the alert rules that ship; only their `for:` is cut to two seconds. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { within } from '../chaos/programs.ts';
import { freePort } from '../freePort.ts';

const RULES = new URL('../../config/prometheus/alerts.yml', import.meta.url);

export type Alert = { readonly name: string; readonly summary: string; readonly instance: string | undefined };

export class Prometheus {
  readonly #dir: string;
  readonly #targets = new Set<string>();
  #child: ChildProcess | null = null;
  #url = '';
  #said = '';

  constructor(dir: string) {
    this.#dir = join(dir, 'prometheus');
  }

  async start(): Promise<void> {
    mkdirSync(this.#dir, { recursive: true });
    const rules = readFileSync(RULES, 'utf8').replace(/^( +for:) .*$/gm, '$1 2s');
    writeFileSync(join(this.#dir, 'alerts.yml'), rules);
    const scrape = { job_name: 'puntas', file_sd_configs: [{ files: ['targets.json'], refresh_interval: '1s' }] };
    const config = {
      global: { scrape_interval: '2s', scrape_timeout: '2s', evaluation_interval: '1s' },
      rule_files: ['alerts.yml'],
      scrape_configs: [scrape],
    };
    // JSON is YAML.
    writeFileSync(join(this.#dir, 'prometheus.yml'), JSON.stringify(config));
    this.#write();
    const port = await freePort();
    this.#url = `http://127.0.0.1:${port}`;
    const args = [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=data',
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ];
    const child = spawn('prometheus', args, { cwd: this.#dir, stdio: ['ignore', 'ignore', 'pipe'] });
    child.on('error', error => (this.#said += String(error)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    this.#child = child;
    const isUp = () =>
      fetch(`${this.#url}/-/ready`).then(
        reply => reply.ok,
        () => false,
      );
    if (!(await within(120_000, isUp))) throw new Error(`prometheus does not start: ${this.#said}`);
  }

  /** `target`: host and port of a bot's metrics. */
  watch(target: string): void {
    this.#targets.add(target);
    this.#write();
  }

  /** As a person who takes a target that is gone for good out of prometheus.yml. */
  forget(target: string): void {
    this.#targets.delete(target);
    this.#write();
  }

  async firing(target: string): Promise<readonly Alert[]> {
    type Told = { labels: Record<string, string>; annotations: Record<string, string>; state: string };
    const reply = await fetch(`${this.#url}/api/v1/alerts`);
    const { data } = (await reply.json()) as { data: { alerts: Told[] } };
    return data.alerts
      .filter(({ state, labels }) => state === 'firing' && labels['instance'] === target)
      .map(({ labels, annotations }) => ({
        name: labels['alertname'] ?? '',
        summary: annotations['summary'] ?? '',
        instance: labels['instance'],
      }));
  }

  /** The values of an instant query; throws where it is none. */
  async asks(expr: string): Promise<readonly string[]> {
    const reply = await fetch(`${this.#url}/api/v1/query?query=${encodeURIComponent(expr)}`);
    const { data, error } = (await reply.json()) as {
      data?: { result: { value: [number, string] }[] };
      error?: string;
    };
    if (data === undefined) throw new Error(`${expr}: ${error}`);
    return data.result.map(({ value: [, value] }) => value);
  }

  /** How often this target has answered, or has been asked at all. */
  async scrapes(target: string, how: 'answered' | 'asked'): Promise<number> {
    const [value] = await this.asks(`${how === 'asked' ? 'count' : 'sum'}_over_time(up{instance="${target}"}[1h])`);
    return Number(value ?? 0);
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise(resolve => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  #write(): void {
    writeFileSync(join(this.#dir, 'targets.json'), JSON.stringify([{ targets: [...this.#targets] }]));
  }
}
