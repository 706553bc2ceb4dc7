import { describe, expect, test } from 'vitest';
import { few } from '../../many.ts';
import { deskThroughEngine } from './jointDesk.ts';

describe('joint inventory through the engine', () => {
  test('the desk of E12 holds less risk than with each book for itself, at no loss of spread', () => {
    const runs = few([1, 2], 1).map(
      seed => [deskThroughEngine(seed, 'own', 8), deskThroughEngine(seed, 'joint', 8)] as const,
    );
    for (const [own, joint] of runs) {
      expect(own.fills).toBeGreaterThan(300);
      expect(joint.risk / own.risk).toBeLessThan(1);
      expect(joint.spread / own.spread).toBeGreaterThan(0.95);
    }
  });
});
