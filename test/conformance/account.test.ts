/** The account: status, balances and their locks, fees, and the ledger. */
import { expect, it } from 'vitest';
import { amount, moneyOf, price } from '../../src/core/index.ts';
import { everyWay, done, fieldsOf, traded, type Fields, type Member } from './driver.ts';

const balance = async (who: Member, currency: string) =>
  done(await who.client.balances()).find(row => row.currency === currency)!;

everyWay(open => {
  it.each(fieldsOf('rest-api', '2.5'))('rest-api 2.5 $name is $word', async ({ name, shape }) => {
    const status = await open().ann.get('/api/v3/account_status');
    expect(shape!.fits(status[name]), JSON.stringify(status[name])).toBe(true);
  });

  it('rest-api 4.5 account_status is one object, read with its limits', async () => {
    const { ann, exchange } = open();
    expect(done(await ann.client.accountStatus())).toMatchObject({
      clientId: ann.id,
      status: 'active',
      verificationLevel: 4,
    });
    exchange.venue.accounts.get(ann.id)!.trading = false;
    expect(done(await ann.client.accountStatus()).status).toBe('inactive');
  });

  it('rest-api 2.5 user_default_fiat_currency is that of the country of residence, USD where the service does not operate', async () => {
    const { member } = open();
    for (const [country, currency] of [
      ['MX', 'MXN'],
      ['BR', 'BRL'],
      ['AR', 'ARS'],
      ['CO', 'COP'],
      ['DE', 'USD'],
      ['US', 'USD'],
    ] as const) {
      const status = done(await member({ country }).client.accountStatus());
      expect([status.countryOfResidence, status.userDefaultFiatCurrency]).toEqual([country, currency]);
    }
  });

  it('rest-api 2.5 the client tells every one of the thirty-two fields', async () => {
    const { ann, exchange } = open();
    const sent = await ann.get('/api/v3/account_status');
    const told = done(await ann.client.accountStatus());
    expect(fieldsOf('rest-api', '2.5')).toHaveLength(32);
    expect(Object.keys(told)).toHaveLength(32);
    const { createdAt, twoFactorMethods, clientId, avatarImg, ...others } = told;
    expect([createdAt, twoFactorMethods, clientId, avatarImg]).toEqual([
      1_790_000_000_000,
      sent['enabled_two_factor_methods'],
      ann.id,
      sent['avatar_img'],
    ]);
    for (const [name, value] of Object.entries(others))
      expect(value, name).toBe(sent[name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)]);
    expect(exchange.venue.accounts.get(ann.id)!.country).toBe('MX');
  });

  it('public-facts 17 the avatar has either name, and the client takes both', async () => {
    const { ann, exchange } = open();
    for (const avatarField of ['avatar_img', 'gravatar_img', 'both'] as const) {
      exchange.venue.set({ avatarField });
      expect(done(await ann.client.accountStatus()).avatarImg).toBe('https://example.com/avatar.png');
    }
  });

  it.each(fieldsOf('rest-api', '2.9'))('rest-api 2.9 $name is $word', async ({ name, shape }) => {
    const { ann } = open();
    await ann.limit('buy', '1400000', '0.1');
    const { balances } = await ann.get<{ balances: Fields[] }>('/api/v3/balance');
    for (const row of balances) expect(shape!.fits(row[name]), JSON.stringify(row)).toBe(true);
  });

  it('rest-api 2.9 available is total minus locked, always', async () => {
    const stage = open();
    const { ann, bob } = stage;
    const holds = async () => {
      for (const { currency, total, locked, available } of done(await ann.client.balances()))
        expect(moneyOf(total) - moneyOf(locked), currency).toBe(moneyOf(available));
    };
    await holds();
    await ann.limit('buy', '1400000', '0.33333333');
    await ann.limit('sell', '1500000', '0.7');
    await holds();
    await bob.limit('buy', '1500000', '0.12345678');
    await bob.limit('sell', '1400000', '0.1');
    await holds();
    done(await ann.client.cancelAll());
    await holds();
    expect((await balance(ann, 'mxn')).locked).toBe('0.00000000');
  });

  it('rest-api 2.9 total changes when a deposit completes and when a withdrawal is created', async () => {
    const { ann, exchange } = open();
    const account = exchange.venue.accounts.get(ann.id)!;
    exchange.venue.deposit(account, 'mxn', moneyOf('5'));
    expect((await balance(ann, 'mxn')).total).toBe('10000005.00000000');
    expect(exchange.venue.withdraw(account, 'mxn', moneyOf('7'))).toBe(true);
    expect((await balance(ann, 'mxn')).total).toBe('9999998.00000000');
  });

  it('rest-api 4.9 balance has one row for each currency of the exchange', async () => {
    const { ann, stranger } = open();
    const currencies = done(await ann.client.balances()).map(row => row.currency);
    expect(new Set(currencies).size).toBe(currencies.length);
    for (const { book } of done(await stranger.availableBooks()))
      for (const currency of book.split('_')) expect(currencies).toContain(currency);
  });

  it('rest-api 9 pending_deposit and pending_withdrawal are gone from balance', async () => {
    const { balances } = await open().ann.get<{ balances: Fields[] }>('/api/v3/balance');
    for (const row of balances) expect(Object.keys(row).sort()).toEqual(['available', 'currency', 'locked', 'total']);
  });

  it('public-facts 9.3 an open buy locks its value in minor, an open sell its amount in major, both without a fee', async () => {
    const { ann } = open();
    await ann.limit('buy', '1400000', '0.1');
    await ann.limit('sell', '1500000', '0.2');
    expect((await balance(ann, 'mxn')).locked).toBe('140000.00000000');
    expect((await balance(ann, 'btc')).locked).toBe('0.20000000');
  });

  it('public-facts 9.3 a lock falls as the order fills, and is gone when it is cancelled', async () => {
    const { ann, bob } = open();
    const oid = await ann.limit('buy', '1400000', '0.1');
    await bob.limit('sell', '1400000', '0.04');
    expect((await balance(ann, 'mxn')).locked).toBe('84000.00000000');
    done(await ann.client.cancelOne(oid));
    expect((await balance(ann, 'mxn')).locked).toBe('0.00000000');
  });

  it('public-facts 9.3 a stop order locks when it is placed, or when it triggers where that is switched on', async () => {
    const { ann, exchange } = open();
    await ann.limit('buy', '1400000', '0.1', { stop: '1450000' });
    expect((await balance(ann, 'mxn')).locked).toBe('140000.00000000');
    done(await ann.client.cancelAll());
    exchange.venue.set({ stopLocks: 'at trigger' });
    await ann.limit('buy', '1400000', '0.1', { stop: '1450000' });
    expect((await balance(ann, 'mxn')).locked).toBe('0.00000000');
  });

  it('rest-api 4.11 fees are the account’s own rates, book by book', async () => {
    const { ann, member } = open();
    const fees = done(await ann.client.fees());
    expect(fees.find(({ book }) => book === 'btc_mxn')).toMatchObject({ maker: '0.00600000', taker: '0.00780000' });
    const whale = member({ volume30d: { mxn: '200000000' } });
    expect(done(await whale.client.fees()).find(({ book }) => book === 'btc_mxn')).toMatchObject({
      maker: '0.00100000',
    });
  });

  it('public-facts 9.1 a row of fees has its fifteen fields, deprecated ones too', async () => {
    const { fees, deposit_fees, withdrawal_fees } = await open().ann.get<Record<string, Fields[]>>('/api/v3/fees');
    const fields =
      'book fee_percent fee_decimal taker_fee_percent taker_fee_decimal maker_fee_percent maker_fee_decimal volume_currency current_volume next_volume next_maker_fee_percent next_taker_fee_percent nextVolume nextFee nextTakerFee';
    for (const row of fees!) expect(Object.keys(row).sort()).toEqual(fields.split(' ').sort());
    expect(Object.keys(deposit_fees![0]!).sort()).toEqual(['currency', 'fee', 'is_fixed', 'method']);
    expect(Object.values(withdrawal_fees!)).toContain('0');
  });

  it('public-facts 9.1 the client reads the decimal rates, the next tier, and what deposits and withdrawals cost', async () => {
    const schedule = done(await open().ann.client.feeSchedule());
    expect(schedule.books.find(({ book }) => book === 'eth_mxn')).toMatchObject({
      volumeCurrency: 'mxn',
      nextVolume: '20000.00',
      nextMaker: '0.0059',
    });
    expect(schedule.deposits).toEqual([{ currency: 'mxn', method: 'sp', fee: '0.00', fixed: true }]);
    expect(schedule.withdrawals.get('btc')).toBe('0');
  });

  it('public-facts 9.1 what an account trades counts for its tier, in the group of the quote currency', async () => {
    const stage = open();
    await stage.ann.limit('sell', '1500000', '0.02');
    await stage.bob.limit('buy', '1500000', '0.02');
    const fees = done(await stage.bob.client.fees());
    const of = (name: string) => fees.find(({ book }) => book === name)!;
    expect(of('eth_mxn')).toMatchObject({ currentVolume: '30000.00', maker: '0.00590000' });
    expect(of('btc_usd').currentVolume).toBe('0.00');
  });

  it('public-facts 9.4 the ledger tells trades, their fees, fundings and withdrawals, each with what it moved', async () => {
    const stage = open();
    const { ann, exchange, clock } = stage;
    await clock.advance(1000);
    await traded(stage);
    await clock.advance(1000);
    exchange.venue.withdraw(exchange.venue.accounts.get(ann.id)!, 'mxn', moneyOf('7'));
    await clock.advance(1000);
    const rows = await ann.get<Fields[]>('/api/v3/ledger');
    expect(rows.map(row => row['operation'])).toEqual([
      'withdrawal',
      'fee',
      'trade',
      ...Array<string>(4).fill('funding'),
    ]);
    for (const row of rows)
      expect(Object.keys(row).sort()).toEqual(['balance_updates', 'created_at', 'details', 'eid', 'operation']);
    expect(rows[0]).toMatchObject({ balance_updates: [{ currency: 'mxn', amount: '-7.00000000' }] });
    expect(rows[2]).toMatchObject({
      balance_updates: [
        { currency: 'btc', amount: '-0.01000000' },
        { currency: 'mxn', amount: '15000.00000000' },
      ],
    });
    expect(rows[1]).toMatchObject({ balance_updates: [{ currency: 'mxn', amount: '-90.00000000' }] });
    for (const [kind, count] of [
      ['trades', 1],
      ['fees', 1],
      ['fundings', 4],
      ['withdrawals', 1],
    ] as const)
      expect(await ann.get(`/api/v3/ledger/${kind}`), kind).toHaveLength(count);
  });

  it('public-facts 9.4 the ledger pages by marker, sort and limit, and adds up to the balance', async () => {
    const stage = open();
    const { ann } = stage;
    await traded(stage, 3);
    stage.house('usd_mxn').place('sell', price(18_310), amount(10 ** 13), 'GTC');
    const quote = done(await ann.client.requestConversion({ from: 'mxn', to: 'usd', spend: '5200' }));
    done(await ann.client.executeConversion(quote.id));
    await stage.clock.advance(3000);
    const all = await ann.get<Fields[]>('/api/v3/ledger?limit=100');
    const seen: Fields[] = [];
    for (let marker = ''; ; marker = `&marker=${String(seen.at(-1)!['eid'])}`) {
      const page = await ann.get<Fields[]>(`/api/v3/ledger?limit=4${marker}`);
      seen.push(...page);
      if (page.length < 4) break;
    }
    expect(seen).toEqual(all);
    expect((await ann.get<Fields[]>('/api/v3/ledger?sort=asc&limit=1'))[0]).toEqual(all.at(-1));
    expect((await ann.call('GET', '/api/v3/ledger?marker=nothing')).code).toBe('0320');
    const sums = new Map<string, bigint>();
    for (const row of all)
      for (const { currency, amount } of row['balance_updates'] as { currency: string; amount: string }[]) {
        const size = moneyOf(amount.replace('-', ''));
        sums.set(currency, (sums.get(currency) ?? 0n) + (amount.startsWith('-') ? -size : size));
      }
    expect(all[0]).toMatchObject({ operation: 'conversion', balance_updates: [{ amount: '-5200.00000000' }, {}] });
    for (const currency of ['mxn', 'btc', 'usd'])
      expect(sums.get(currency)).toBe(moneyOf((await balance(ann, currency)).total));
  });

  it('public-facts 9.4 the client reads what moved from the lists of fundings and withdrawals, page by page', async () => {
    const { ann, exchange, clock } = open();
    const { venue } = exchange;
    const account = venue.accounts.get(ann.id)!;
    for (const sum of ['1', '2', '3']) {
      await clock.advance(1000);
      venue.deposit(account, 'mxn', moneyOf(sum));
    }
    venue.withdraw(account, 'btc', moneyOf('0.5'));
    await clock.advance(5000);
    const first = done(await ann.client.transferLines('fundings', { limit: 2 }));
    expect(first.map(({ operation, updates }) => [operation, updates])).toEqual([
      ['funding', [{ currency: 'mxn', amount: moneyOf('3') }]],
      ['funding', [{ currency: 'mxn', amount: moneyOf('2') }]],
    ]);
    const [next] = done(await ann.client.transferLines('fundings', { limit: 2, marker: first[1]!.id }));
    expect(next).toMatchObject({ createdAt: 1_790_000_001_000, updates: [{ amount: moneyOf('1') }] });
    expect(next!.ref).toMatch(/./);
    const out = done(await ann.client.transferLines('withdrawals', { limit: 100 }));
    expect(out).toMatchObject([{ operation: 'withdrawal', updates: [{ currency: 'btc', amount: -moneyOf('0.5') }] }]);
    expect(done(await ann.client.transferLines('fees', { limit: 100 }))).toEqual([]);
    expect((await ann.client.transferLines('fundings', { limit: 2, marker: 'nothing' })).kind).toBe('refused');
  });

  it('rest-api 4.11 withdrawals are listed, by wid and by origin_ids too', async () => {
    const { ann, exchange, clock } = open();
    exchange.venue.withdraw(exchange.venue.accounts.get(ann.id)!, 'mxn', moneyOf('7'));
    await clock.advance(1000);
    const [row] = await ann.get<Fields[]>('/api/v3/withdrawals');
    expect(row).toMatchObject({ currency: 'mxn', amount: '7.00000000', status: 'complete' });
    expect(await ann.get(`/api/v3/withdrawals/${String(row!['wid'])}`)).toEqual([row]);
    expect(await ann.get(`/api/v3/withdrawals?wids=${String(row!['wid'])}`)).toEqual([row]);
    expect(await ann.get('/api/v3/withdrawals?origin_ids=a,b')).toEqual([]);
    expect((await ann.call('GET', '/api/v3/withdrawals/unknown')).code).toBe('0310');
  });
});
