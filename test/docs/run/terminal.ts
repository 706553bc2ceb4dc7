/** A command typed at a terminal of 80 columns: what it shows, and Ctrl-C. */
import { spawn } from 'node:child_process';

export const COLUMNS = 80;

export type Typed = {
  readonly ended: Promise<number | null>;
  /** Everything on the screen so far, without colours. */
  text(): string;
  isOver(): boolean;
  ctrlC(): void;
  kill(): void;
};

/** Whether a screen shows a pattern, also where a line was wrapped at the width of the terminal. */
export const isOnScreen = (screen: string, pattern: RegExp): boolean =>
  pattern.test(screen) || pattern.test(screen.replace(/\n {2,}/g, ' '));

/** What npx turns while it starts. */
const SPINNER = /[\u2800-\u28ff]\u001b\[1G\u001b\[0K/g;
const CONTROL = /\u001b\[[0-9;?]*[A-Za-z]|\u001b[=>]/g;

export function typed(command: string, dir: string, environment: NodeJS.ProcessEnv): Typed {
  // `script` gives it a terminal of its own; a byte 3 on its input is Ctrl-C there.
  const child = spawn('script', ['-qefc', `stty cols ${COLUMNS} rows 40; ${command}`, '/dev/null'], {
    ...{ cwd: dir, env: { ...environment, SHELL: '/bin/bash' } },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let heard = '';
  child.stdin.on('error', () => undefined);
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (heard += text));
  let over = false;
  const ended = new Promise<number | null>(resolve =>
    child.on('close', code => {
      over = true;
      resolve(code);
    }),
  );
  return {
    ended,
    text: () => heard.replace(SPINNER, '').replace(CONTROL, '').replaceAll('\r\n', '\n').replaceAll('\r', '\n'),
    isOver: () => over,
    ctrlC: () => child.stdin.write('\u0003'),
    kill: () => child.kill('SIGKILL'),
  };
}
