/**
 * Reporter for CI: names the tests that have begun and not ended, every five minutes and when the run is ended from
 * outside, so that a test that hangs has a name.
 */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

const EVERY_MS = 300_000;

export default class RunningTests implements Reporter {
  /** Files that run, with the tests in them that run. */
  readonly #files = new Map<string, Set<string>>();
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#timer = setInterval(() => this.#show(), EVERY_MS);
    this.#timer.unref();
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.prependOnceListener(signal, () => this.#show());
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#files.set(moduleId, new Set());
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#files.delete(moduleId);
  }

  onTestCaseReady({ module, fullName }: TestCase): void {
    this.#files.get(module.moduleId)?.add(fullName);
  }

  onTestCaseResult({ module, fullName }: TestCase): void {
    this.#files.get(module.moduleId)?.delete(fullName);
  }

  #show(): void {
    for (const [file, tests] of this.#files)
      console.log(`still running: ${file}: ${[...tests].join(', ') || 'no test'}`);
  }
}
