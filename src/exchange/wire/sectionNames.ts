/** Names that remedies for the operator mention, and that differ between the sections `exchange` and `elsewhere`. */
import type { VenueSection } from '../../core/index.ts';

/** Section of the configuration, and environment variables of its key. */
export type SectionNames = { readonly section: VenueSection; readonly apiKey: string; readonly apiSecret: string };

export const SECTION_NAMES: Readonly<Record<VenueSection, SectionNames>> = {
  exchange: { section: 'exchange', apiKey: 'PUNTAS_API_KEY', apiSecret: 'PUNTAS_API_SECRET' },
  elsewhere: {
    section: 'elsewhere',
    apiKey: 'PUNTAS_ELSEWHERE_API_KEY',
    apiSecret: 'PUNTAS_ELSEWHERE_API_SECRET',
  },
};
