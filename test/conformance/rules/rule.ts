/** What a row of the interface table is: one endpoint, parameter, field, error or limit of the two interface documents, in our own words. */

/** What a field must look like on the wire. */
export type Shape = { readonly word: string; readonly fits: (value: unknown) => boolean };

export type Kind = 'endpoint' | 'parameter' | 'field' | 'state' | 'error' | 'limit' | 'rule';
export type Doc = 'rest-api' | 'rfq-and-webhooks';
/** Names of things in code, or the reason why there is none. */
export type Places = readonly string[] | { readonly none: string };

export type Row = {
  readonly kind: Kind;
  readonly name: string;
  readonly says: string;
  /** Fields only. */
  readonly shape?: Shape;
  /** A field that may be missing: the test sees to it that it is there. */
  readonly sometimes?: true;
  /** Where it differs from the group's. */
  readonly client?: Places;
  readonly handler?: Places;
};

/** The rows of one section, which share what answers and what asks. */
export type Group = {
  readonly doc: Doc;
  readonly section: string;
  readonly title: string;
  /** What the titles of its tests begin with; the document and the section, when absent. */
  readonly tests?: readonly string[];
  /** Methods of the client (`userTrades`, `rfq.pairs`), or `file.ts name` in the client's room. */
  readonly client: Places;
  /** Routes (`GET /v3/user_trades`), or `file.ts name` in the embedded exchange's room. */
  readonly handler: Places;
  readonly rows: readonly Row[];
};

const text = (word: string, form: RegExp): Shape => ({
  word,
  fits: value => typeof value === 'string' && form.test(value),
});

export const DECIMAL = text('decimal text', /^\d+(\.\d+)?$/);
export const SIGNED = text('decimal text, signed', /^-?\d+(\.\d+)?$/);
export const BOOK = text('book symbol', /^[a-z0-9]+_[a-z0-9]+$/);
export const TICKER = text('ticker', /^[a-z0-9]+$/);
export const UPPER = text('upper-case ticker', /^[A-Z0-9]+$/);
export const SIDE = text('`buy` or `sell`', /^(buy|sell)$/);
export const OID = text('order id', /^[A-Za-z0-9]{16}$/);
export const ORIGIN = text('text of 1 to 40 of a-z, A-Z, 0-9, _ and -', /^[A-Za-z0-9_-]{1,40}$/);
export const TID_TEXT = text('digits, as text', /^\d+$/);
export const TEXT = text('text', /^[^]*$/);
export const FILLED = text('text that is not empty', /^[^]+$/);
/** The two forms that the REST document shows, and the one of RFQ. */
export const TIME = text('ISO 8601 in one of the two forms', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\+0000|\.\d{3}\+00:00)$/);
export const TIME_UTC = text('ISO 8601 to the second, with Z', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
/** Of webhooks, whose document shows no form. */
export const TIME_ANY = text('ISO 8601', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:?00|Z)$/);
export const orNull = (shape: Shape): Shape => ({
  word: `${shape.word} or null`,
  fits: value => value === null || shape.fits(value),
});
export const WHOLE: Shape = { word: 'whole number', fits: value => Number.isSafeInteger(value) };
export const FLAG: Shape = { word: 'true or false', fits: value => typeof value === 'boolean' };
export const LIST: Shape = { word: 'list', fits: value => Array.isArray(value) };
export const OBJECT: Shape = {
  word: 'object',
  fits: value => typeof value === 'object' && value !== null && !Array.isArray(value),
};
/** An object with exactly these fields. */
export const having = (fields: Readonly<Record<string, Shape>>): Shape => ({
  word: `object of ${Object.keys(fields)
    .map(name => `\`${name}\``)
    .join(', ')}`,
  fits: value =>
    OBJECT.fits(value) &&
    Object.keys(value as object).length === Object.keys(fields).length &&
    Object.entries(fields).every(([name, shape]) => shape.fits((value as Record<string, unknown>)[name])),
});
export const listOf = (shape: Shape): Shape => ({
  word: `list of ${shape.word}`,
  fits: value => Array.isArray(value) && value.every(each => shape.fits(each)),
});
export const word = (...words: readonly string[]): Shape => ({
  word: words.map(each => `\`${each}\``).join(', '),
  fits: value => typeof value === 'string' && words.includes(value),
});
export const form = text;

export const field = (name: string, shape: Shape, says: string, more: Partial<Row> = {}): Row => ({
  kind: 'field',
  name,
  shape,
  says,
  ...more,
});
const of =
  (kind: Kind) =>
  (name: string, says: string, more: Partial<Row> = {}): Row => ({ kind, name, says, ...more });
export const endpoint = of('endpoint');
export const parameter = of('parameter');
export const state = of('state');
export const error = of('error');
export const limit = of('limit');
export const rule = of('rule');
