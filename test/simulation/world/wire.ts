/** What a request is about, read from the wire alone, and replies that something other than the exchange gives. */
import type { WireReply, WireRequest } from '../../../src/core/index.ts';

export type Topic =
  | 'place'
  | 'cancel'
  | 'open orders'
  | 'look up'
  | 'trades'
  | 'balance'
  | 'fees'
  | 'books'
  | 'book'
  | 'public trades'
  | 'ledger'
  | DeskTopic;

/** Requests to the two conversion desks. */
export type DeskTopic = 'pairs' | 'quote' | 'accept' | 'conversion' | 'conversions';

export function topicOf({ method, target }: WireRequest): Topic {
  const desk = /\/rfq\/v1\/|\/currency_conversions/.test(target) ? deskTopicOf(method, target) : null;
  if (desk !== null) return desk;
  if (method === 'POST') return 'place';
  if (method === 'DELETE') return 'cancel';
  if (target.includes('/ledger/')) return 'ledger';
  if (target.includes('/open_orders')) return 'open orders';
  if (target.includes('/user_trades') || target.includes('/order_trades')) return 'trades';
  if (target.includes('/balance')) return 'balance';
  if (target.includes('/fees')) return 'fees';
  if (target.includes('/available_books')) return 'books';
  if (target.includes('/order_book')) return 'book';
  if (target.includes('/trades')) return 'public trades';
  return 'look up';
}

function deskTopicOf(method: string, target: string): DeskTopic {
  if (target.includes('/pairs')) return 'pairs';
  if (method === 'PUT' || (method === 'POST' && target.endsWith('/conversions'))) return 'accept';
  if (method === 'POST') return 'quote';
  return /\/(rfq\/v1\/conversions|currency_conversions)\/[^/?]+$/.test(target) ? 'conversion' : 'conversions';
}

export const isDesk = (topic: Topic): topic is DeskTopic =>
  topic === 'accept' || topic === 'quote' || topic === 'conversion' || topic === 'conversions' || topic === 'pairs';

/** The quote that an acceptance names. */
export function quoteIn({ method, target, body }: Pick<WireRequest, 'method' | 'target' | 'body'>): string {
  if (method === 'PUT') return target.slice(target.lastIndexOf('/') + 1);
  return String((JSON.parse(body) as Record<string, unknown>)['quote_id']);
}

export const isPublic = (topic: Topic): boolean => topic === 'books' || topic === 'book' || topic === 'public trades';

/** Origin ids that a cancel or a look-up names. */
export function idsIn(request: WireRequest): readonly string[] {
  const found = /[?&](?:origin_ids|oids)=([^&]*)/.exec(request.target);
  return found ? decodeURIComponent(found[1]!).split(',') : [];
}

export type PlacedOrder = {
  readonly originId: string;
  readonly book: string;
  readonly side: string;
  readonly price: string;
  readonly major: string;
  readonly timeInForce: string;
};

export function orderIn(request: WireRequest): PlacedOrder {
  const body = JSON.parse(request.body) as Record<string, unknown>;
  const text = (name: string) => String(body[name]);
  return {
    originId: text('origin_id'),
    book: text('book'),
    side: text('side'),
    price: text('price'),
    major: text('major'),
    timeInForce: text('time_in_force'),
  };
}

/** Book that a placement or a read of market data is about; `undefined` for any other request. */
export function symbolIn(request: Pick<WireRequest, 'target' | 'body'>, topic: Topic): string | undefined {
  if (topic === 'place') return String((JSON.parse(request.body) as Record<string, unknown>)['book']);
  return topic === 'book' || topic === 'public trades' ? /[?&]book=(\w+)/.exec(request.target)?.[1] : undefined;
}

export type Envelope = {
  readonly success?: boolean;
  readonly payload?: unknown;
  readonly error?: { readonly code?: string };
  /** Of RFQ. */
  readonly errors?: readonly { readonly code?: string }[];
};

/** Everybody who watches the wire asks: each reply is parsed once. */
const parsed = new WeakMap<WireReply, Envelope | null>();

/** Null when it is no JSON. */
export function envelopeOf(reply: WireReply): Envelope | null {
  let envelope = parsed.get(reply);
  if (envelope === undefined) {
    try {
      envelope = JSON.parse(reply.body) as Envelope;
    } catch {
      envelope = null;
    }
    parsed.set(reply, envelope);
  }
  return envelope;
}

export const isSuccess = (reply: WireReply): boolean => reply.status === 200 && envelopeOf(reply)?.success === true;

/** What a conversion desk sent, bare or wrapped; null when it is no success. */
export function deskPayload(reply: WireReply): Readonly<Record<string, unknown>> | null {
  const envelope = envelopeOf(reply);
  if (reply.status !== 200 || envelope === null || envelope.success === false) return null;
  return (envelope.success === true ? envelope.payload : envelope) as Record<string, unknown>;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export const errorReply = (status: number, code: string, message: string): WireReply => ({
  status,
  headers: JSON_TYPE,
  body: JSON.stringify({ success: false, error: { code, message } }),
});

export const payloadReply = (payload: unknown): WireReply => ({
  status: 200,
  headers: JSON_TYPE,
  body: JSON.stringify({ success: true, payload }),
});

export const htmlReply = (status: number): WireReply => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html><head><title>Just a moment...</title></head><body>Please wait.</body></html>',
});
