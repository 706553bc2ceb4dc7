/**
 * Commissions of the second exchange: deducted from the received amount, or paid in BNB at a discount. Source:
 * faqs/commission_faq.md and rest-api.md of github.com/binance/binance-spot-api-docs at a5e0bc3; the rounding is not
 * documented.
 */
import { money, moneyOf, type Money } from '../../core/index.ts';
import { crossesFrom } from '../desks/crossRates.ts';
import type { Account } from '../venue/accounts.ts';
import type { FeePayment, Venue } from '../venue/venue.ts';
import type { VenueBook } from '../venue/venueBook.ts';
import { feeOn } from '../wire/rounding.ts';
import { text8 } from '../wire/wire.ts';
import type { SecondSwitches } from './binanceSwitches.ts';

const ASSET = 'bnb';
/** Discount on a commission that is paid in BNB, in percent. */
const DISCOUNT_PERCENT = 25n;

type Rates = { readonly maker: string; readonly taker: string; readonly buyer: string; readonly seller: string };

const rateText = (fraction: string): string => text8(moneyOf(fraction));
const ZERO = text8(money(0n));

/** Commission of an account in a book, as the answers show it. */
export function commissionOf(
  { venue, switches }: { readonly venue: Venue; readonly switches: SecondSwitches },
  account: Account,
  book: VenueBook,
): { readonly standard: Rates; readonly none: Rates; readonly discount: Record<string, unknown> } {
  const { tiers, index } = venue.tierFor(account, book);
  const { maker, taker } = tiers[index]!;
  return {
    standard: { maker: rateText(maker), taker: rateText(taker), buyer: ZERO, seller: ZERO },
    none: { maker: ZERO, taker: ZERO, buyer: ZERO, seller: ZERO },
    discount: {
      enabledForAccount: switches.bnbFees === 'on',
      enabledForSymbol: true,
      discountAsset: ASSET.toUpperCase(),
      discount: text8(money((DISCOUNT_PERCENT * 10n ** 18n) / 100n)),
    },
  };
}

/**
 * Returns the function that charges commissions in BNB, at the mid prices of the books from the received currency to
 * BNB. Without such books or without enough BNB, the commission is deducted from the received amount.
 */
export function bnbPayment(world: () => { readonly venue: Venue; readonly switches: SecondSwitches }): FeePayment {
  return (account, received, rate) => {
    const { venue, switches } = world();
    if (switches.bnbFees === 'off') return null;
    const sum = bnbFor(venue, received.currency, received.sum);
    if (sum === null) return null;
    const fee = feeOn(sum, (rate * (100n - DISCOUNT_PERCENT)) / 100n, venue.switches.feeRounding);
    return fee <= account.available(ASSET) ? { currency: ASSET, sum: fee } : null;
  };
}

/** Returns the value of a sum in BNB, rounded down; `null` if no books lead from its currency to BNB. */
function bnbFor(venue: Venue, currency: string, sum: Money): Money | null {
  if (currency === ASSET) return sum;
  const rate = crossesFrom(venue, currency).get(ASSET)?.rate;
  return rate ? money((sum * rate.over) / rate.under) : null;
}
