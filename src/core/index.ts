/** Everything that other rooms may import from core. */
export * from './units.ts';
export * from './instrument.ts';
export * from './port.ts';
export * from './random.ts';
export * from './virtualClock.ts';
