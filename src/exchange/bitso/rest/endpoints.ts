/** All endpoints of the exchange as one type: those of `Exchange`, which the event loop needs, and all others. */
import type { Exchange, TransferLists } from '../../../core/index.ts';
import type { AccountEndpoints } from './account.ts';
import type { ConversionEndpoints } from './conversions.ts';
import type { MarketEndpoints } from './market.ts';
import type { OrderEndpoints } from './orders.ts';
import type { Rfq } from './rfq.ts';
import type { WebhookEndpoints } from './webhooks.ts';

/**
 * Client with all endpoints. Endpoint types come before `Exchange`, so that a look-up returns all fields of an order.
 */
export type Endpoints = MarketEndpoints &
  OrderEndpoints &
  AccountEndpoints &
  Exchange &
  ConversionEndpoints &
  TransferLists &
  WebhookEndpoints & {
    readonly rfq: Rfq;
    /** Returns how often the exchange has rejected requests for exceeding its rate limit, by scope. */
    lockOuts(): { readonly public: number; readonly private: number };
  };
