/** A disk at whose n-th write the process is killed: that write is cut short, and none comes after it. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Counts what changes a disk; from the write on at which the process is killed it does none. */
export const disk = { writes: 0, killAt: Infinity };

export class Killed extends Error {}

function counted(): void {
  if (disk.writes < disk.killAt) disk.writes++;
  if (disk.writes >= disk.killAt) throw new Killed('killed');
}

/** Calls that change a disk completely or not at all. */
const STEPS = [
  'renameSync',
  'linkSync',
  'rmSync',
  'mkdirSync',
  'symlinkSync',
  'fsyncSync',
  'fdatasyncSync',
  'ftruncateSync',
  'fchmodSync',
  'chmodSync',
  'chownSync',
] as const;
const STEPS_LATER = ['rename', 'rm', 'mkdir'] as const;

type Call = (...args: never[]) => unknown;

/** Half of what a call writes, as one that is killed in its middle leaves it. */
const half = (data: string | Uint8Array): Buffer => {
  const bytes = Buffer.from(data as Uint8Array);
  return bytes.subarray(0, Math.floor(bytes.length / 2));
};

/** Counts a call; the one at which the process is killed leaves what `leave` does. */
const cut =
  (call: Call, leave: Call = () => undefined): Call =>
  (...args) => {
    const isHere = disk.writes + 1 === disk.killAt;
    try {
      counted();
    } catch (error) {
      if (isHere) leave(...args);
      throw error;
    }
    return call(...args);
  };

/** Has every write of this process counted; the answer takes that back. */
export function hookDisk(): () => void {
  const [real, later] = [{ ...fs }, { ...fs.promises }];
  const { O_WRONLY, O_RDWR } = fs.constants;
  const openSync: typeof fs.openSync = (path, flags, mode) => {
    const isWrite = typeof flags === 'number' ? (flags & (O_WRONLY | O_RDWR)) !== 0 : flags !== 'r';
    if (isWrite) counted();
    return real.openSync(path, flags, mode);
  };
  // The library's own calls of others are counted too.
  const putHalf = (path: string, data: string | Uint8Array): void => {
    const fd = real.openSync(path, 'w');
    real.writeSync(fd, half(data));
    real.closeSync(fd);
  };
  const copyHalf = (from: string, to: string): void => putHalf(to, real.readFileSync(from));
  const inTime =
    (call: Call): Call =>
    async (...args) =>
      call(...args);
  Object.assign(fs, {
    ...Object.fromEntries(STEPS.map(name => [name, cut(real[name])])),
    openSync,
    writeSync: cut(real.writeSync, (fd: number, data: string | Uint8Array) => real.writeSync(fd, half(data))),
    writeFileSync: cut(real.writeFileSync, putHalf),
    copyFileSync: cut(real.copyFileSync, copyHalf),
  });
  Object.assign(fs.promises, {
    ...Object.fromEntries(STEPS_LATER.map(name => [name, inTime(cut(later[name]))])),
    writeFile: inTime(cut(later.writeFile, putHalf)),
    copyFile: inTime(cut(later.copyFile, copyHalf)),
  });
  syncBuiltinESMExports();
  return () => {
    for (const name of [...STEPS, 'openSync', 'writeSync', 'writeFileSync', 'copyFileSync'] as const)
      Object.assign(fs, { [name]: real[name] });
    for (const name of [...STEPS_LATER, 'writeFile', 'copyFile'] as const)
      Object.assign(fs.promises, { [name]: later[name] });
    syncBuiltinESMExports();
  };
}
