/** Every endpoint of the exchange as one type: what the event loop needs, and one method for each other endpoint. */
import type { Exchange, TransferLists } from '../../core/index.ts';
import type { AccountEndpoints } from './account.ts';
import type { ConversionEndpoints } from './conversions.ts';
import type { MarketEndpoints } from './market.ts';
import type { OrderEndpoints } from './orders.ts';
import type { Rfq } from './rfq.ts';
import type { WebhookEndpoints } from './webhooks.ts';

/** The endpoints come before `Exchange`, so that a look-up has all fields of an order. */
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
