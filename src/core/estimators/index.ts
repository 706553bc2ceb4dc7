/** The estimators: volatility, arrivals and the micro-price, from what was seen. Numbers in, numbers out. */
export * from './volatility.ts';
export * from './intensity.ts';
export * from './microprice.ts';
export * from './clusteredMean.ts';
export * from './markouts.ts';
