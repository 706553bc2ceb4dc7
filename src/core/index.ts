/** Everything that other rooms may import from core. */
export * from './units.ts';
export * from './instrument.ts';
export * from './port.ts';
export * from './random.ts';
export * from './virtualClock.ts';
export * from './book.ts';
export * from './event.ts';
export * from './guard.ts';
export * from './legalise.ts';
export * from './orderFeed.ts';
export * from './orders.ts';
export * from './plan.ts';
export * from './position.ts';
export * from './risk.ts';
export * from './strategy.ts';
export * from './engine.ts';
export * from './engineTypes.ts';
