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

const WRITES = [
  'renameSync',
  'linkSync',
  'rmSync',
  'mkdirSync',
  'symlinkSync',
  'fsyncSync',
  'chmodSync',
  'chownSync',
] as const;

/** Has every write of this process counted; the answer takes that back. */
export function hookDisk(): () => void {
  const real = { ...fs };
  const { O_WRONLY, O_RDWR } = fs.constants;
  const of = fs as unknown as Record<string, (...args: never[]) => unknown>;
  for (const name of WRITES) {
    const call = real[name] as (...args: never[]) => unknown;
    of[name] = (...args) => {
      counted();
      return call(...args);
    };
  }
  fs.openSync = (path, flags, mode) => {
    if (typeof flags === 'number' && (flags & (O_WRONLY | O_RDWR)) !== 0) counted();
    return real.openSync(path, flags, mode);
  };
  // One that is killed in the middle of a write has written a part of it.
  of['writeSync'] = (...args: never[]) => {
    const [fd, data] = args as unknown as [number, string | Uint8Array];
    const isHere = disk.writes + 1 === disk.killAt;
    try {
      counted();
    } catch (error) {
      const bytes = Buffer.from(data as Uint8Array);
      if (isHere) real.writeSync(fd, bytes, 0, Math.floor(bytes.length / 2));
      throw error;
    }
    return (real.writeSync as (...all: never[]) => unknown)(...args);
  };
  syncBuiltinESMExports();
  return () => {
    for (const name of [...WRITES, 'openSync', 'writeSync'] as const) of[name] = real[name];
    syncBuiltinESMExports();
  };
}
