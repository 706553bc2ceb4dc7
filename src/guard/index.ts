/** Everything that other rooms may import from guard. */
export { Connections } from './connections.ts';
export type { CallerRole } from './connections.ts';
export { GuardedServer, textAnswer } from './guardedServer.ts';
export { Pool } from './pool.ts';
export { senderOf } from './sender.ts';
