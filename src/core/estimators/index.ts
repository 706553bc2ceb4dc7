/**
 * Estimators from observed data: volatility, arrivals, markouts, micro-price and fair-value signals. All estimators
 * take and return plain numbers.
 */
export * from './volatility.ts';
export * from './intensity.ts';
export * from './microprice.ts';
export * from './clusteredMean.ts';
export * from './blockBootstrap.ts';
export * from './student.ts';
export * from './normalDistribution.ts';
export * from './markouts.ts';
export * from './imbalance.ts';
export * from './orderFlow.ts';
export * from './tradeMean.ts';
export * from './basis.ts';
export * from './basisModel.ts';
export { overlappingChanges } from './hayashiYoshida.ts';
export type { PriceReads } from './hayashiYoshida.ts';
export * from './leadLag.ts';
export * from './runningLead.ts';
export * from './covariance.ts';
export * from './basisFilter.ts';
