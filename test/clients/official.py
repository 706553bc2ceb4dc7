"""Replays the requests of the exchange's official Python client (bitso-py) against an embedded exchange, and reads each reply as that client does.

Usage: official.py URL KEY SECRET. Prints a line a call; the exit code is the number of calls that did not come out as the table says.
Only facts of the client are here, none of its code: the addresses it asks (with their slashes), how it signs, and which fields it turns into
decimals, whole numbers and times, which fails where one is missing or null.
"""

import hashlib
import hmac
import json
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime
from decimal import Decimal

ORIGIN, KEY, SECRET = sys.argv[1:4]
WAIT_S = 20
failures = 0
calls = 0


class Refused(Exception):
    """The exchange said no; the code of its error."""


def request(method, path, query=None, body=None, signed=True):
    """One request as the client sends it. The nonce is the time in microseconds; a body is signed with the spaces that Python's json writes."""
    target = path + ("?" + urllib.parse.urlencode(query) if query else "")
    text = json.dumps(body) if body else ""
    headers = {"Content-Type": "application/json"} if body else {}
    if signed:
        nonce = str(int(round(time.time() * 1_000_000)))
        signature = hmac.new(SECRET.encode(), (nonce + method + target + text).encode(), hashlib.sha256).hexdigest()
        headers["Authorization"] = f"Bitso {KEY}:{nonce}:{signature}"
    call = urllib.request.Request(ORIGIN + target, data=text.encode() or None, headers=headers, method=method)
    try:
        with urllib.request.urlopen(call, timeout=WAIT_S) as reply:
            data = json.load(reply)
    except urllib.error.HTTPError as error:
        text = error.read()
        if not text:
            raise Refused(f"HTTP {error.code}, empty") from None
        data = json.loads(text)
    if data["success"] is not True or "error" in data:
        raise Refused(data["error"]["code"])
    return data["payload"]


def get(path, signed=True, **query):
    return request("GET", "/api/v3/" + path, query, signed=signed)


def read(row, decimals=(), times=(), wholes=(), texts=()):
    """Turns the fields into what the client makes of them; raises where it would."""
    for name in decimals:
        Decimal(row[name])
    for name in times:
        if not isinstance(row[name], str):
            raise TypeError(f"{name}: a time in text, found {row[name]!r}")
        datetime.fromisoformat(row[name])
    for name in wholes:
        int(row[name])
    for name in texts:
        if row[name] is None:
            raise TypeError(f"{name} is null")
    return row


BOOK = "minimum_amount maximum_amount minimum_price maximum_price minimum_value maximum_value".split()
TICKER = "ask bid high last low vwap volume".split()
OWN_TRADE = "major minor price fees_amount".split()
PAGE = {"limit": 25, "sort": "desc"}
ORDER = {"book": "btc_mxn", "type": "limit", "side": "buy", "major": "0.001", "price": "1000000"}


def books():
    return [read(book, decimals=BOOK, texts=["book"]) for book in get("available_books/", signed=False)]


def ticker(**query):
    found = get("ticker/", signed=False, **query)
    return [read(each, decimals=TICKER, times=["created_at"]) for each in (found if isinstance(found, list) else [found])]


def order_book(aggregate):
    """The client writes Python's True and False into the query."""
    book = read(get("order_book/", signed=False, book="btc_mxn", aggregate=aggregate), times=["updated_at"], wholes=["sequence"])
    for side in ("bids", "asks"):
        assert book[side], f"no {side}"
        for each in book[side]:
            read(each, decimals=["price", "amount"], texts=[] if aggregate else ["oid"])
    return book


def trades(**query):
    found = get("trades/", signed=False, book="btc_mxn", **query)
    return [read(each, decimals=["amount", "price"], times=["created_at"], texts=["tid", "maker_side"]) for each in found]


def account_status():
    limits = "daily_limit monthly_limit daily_remaining monthly_remaining".split()
    return read(get("account_status/"), decimals=limits, texts=["client_id", "status"])


def balances():
    return [read(each, decimals=["total", "locked", "available"]) for each in get("balance/")["balances"]]


def fees():
    found = get("fees/")
    for fee in found["withdrawal_fees"].values():
        Decimal(fee)
    return [read(each, decimals=["fee_decimal", "fee_percent"]) for each in found["fees"]]


def ledger(operations=""):
    found = get("ledger/" + operations, **PAGE)
    for entry in found:
        read(entry, times=["created_at"], texts=["eid", "operation"])
        for update in entry["balance_updates"]:
            read(update, decimals=["amount"])
    return found


def transfers(kind, path=None):
    found = get(path or kind + "/", **PAGE)
    own = "fid" if kind == "fundings" else "wid"
    return [read(each, decimals=["amount"], times=["created_at"], texts=[own, "status"]) for each in found]


def user_trades(path="user_trades//", **query):
    """On Python 3 the client asks for no ids with two slashes."""
    found = get(path, **query, **PAGE)
    return [read(each, decimals=OWN_TRADE, times=["created_at"], texts=["tid", "oid", "side"]) for each in found]


def order_trades(oid):
    return [read(each, decimals=OWN_TRADE, times=["created_at"]) for each in get("order_trades/" + oid)]


def orders(path):
    found = request("GET", "/api/v3/" + path)
    limits = [each for each in found if each["type"] == "limit"]
    for each in limits:
        read(each, decimals=["unfilled_amount", "price", "original_amount"], times=["created_at", "updated_at"], texts=["oid", "side", "status"])
    return found


def place(**fields):
    return read(request("POST", "/api/v3/orders/", body={**ORDER, **fields}), texts=["oid"])["oid"]


def cancel(*oids):
    return request("DELETE", f"/api/v3/orders/{'-'.join(oids)}/")


def until(what, found):
    """Asks again until there is an answer: records of a trade and decisions of the engine take milliseconds."""
    end = time.monotonic() + WAIT_S
    while True:
        try:
            answer = found()
            if answer:
                return answer
        except Refused:
            pass
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(0.1)


def check(name, call, want="ok"):
    """Makes a call and says what came of it: ok, a code, or what the client would have stumbled over."""
    global calls, failures
    calls += 1
    try:
        answer, found = call(), "ok"
    except Refused as refusal:
        answer, found = None, str(refusal)
    except Exception as error:  # noqa: BLE001: whatever the client would have raised
        answer, found = None, f"{type(error).__name__}: {error}"
    failures += found != want
    print(f"{'' if found == want else 'FAILED '}{name}: {found}" + ("" if found == want else f", expected {want}"))
    return answer


def same(found, want):
    assert found == want, f"found {found}, expected {want}"
    return found


def none_open(oids):
    assert not set(oids) & {each["oid"] for each in orders("open_orders/?book=btc_mxn")}, "still open"


until("the market trades", trades)
check("available_books", books)
check("ticker, one book", lambda: ticker(book="btc_mxn"))
check("ticker, every book", ticker)
check("order_book, by price", lambda: order_book(True))
check("order_book, by order", lambda: order_book(False))
check("trades", trades)
check("trades, oldest first", lambda: trades(limit=5, sort="asc"))
check("trades beyond one", lambda: trades(marker=trades(limit=1)[0]["tid"]))
check("account_status", account_status)
check("balances", balances)
check("fees", fees)

oids = [check(f"place_order, limit {price}", lambda: place(price=price)) for price in ("1000000", "1000010", "1000020")]
check("open_orders", lambda: until("the orders are open", lambda: set(oids) <= {each["oid"] for each in orders("open_orders/?book=btc_mxn")}))
check("lookup_order, one", lambda: same([each["oid"] for each in orders(f"orders/{oids[0]}/")], oids[:1]))
check("lookup_order, several", lambda: same([each["oid"] for each in orders(f"orders/{'-'.join(oids)}/")], oids))
check("cancel_order, one", lambda: same(cancel(oids[0]), oids[:1]))
check("a canceled order is not open", lambda: none_open(oids[:1]))
check("cancel_order, several", lambda: same(sorted(cancel(*oids[1:])), sorted(oids[1:])))
check("canceled orders are not open", lambda: none_open(oids))
check("lookup_order, of a market order", lambda: orders(f"orders/{until('the market order is there', lambda: market)}/")) if (
    market := check("place_order, market by major", lambda: request("POST", "/api/v3/orders/", body={"book": "btc_mxn", "type": "market", "side": "buy", "major": "0.001"})["oid"])
) else None
check("place_order, market by minor", lambda: request("POST", "/api/v3/orders/", body={"book": "btc_mxn", "type": "market", "side": "sell", "minor": "2000"})["oid"])

mine = check("user_trades", lambda: until("trades of ours", user_trades)) or []
check("user_trades of a book", lambda: until("trades of ours", lambda: user_trades(book="btc_mxn")))
if mine:
    check("user_trades, one", lambda: same([each["tid"] for each in user_trades(f"user_trades/{mine[0]['tid']}/")], [mine[0]["tid"]]))
    check("order_trades", lambda: until("trades of the order", lambda: order_trades(mine[0]["oid"])))

for operations in ("", "trades", "fees", "fundings", "withdrawals"):
    check(f"ledger/{operations}", lambda: ledger(operations))
funds = check("fundings", lambda: transfers("fundings")) or []
if funds:
    check("fundings, one", lambda: same(len(transfers("fundings", f"fundings/{funds[0]['fid']}/")), 1))
check("withdrawals", lambda: transfers("withdrawals"))
check("funding_destination", lambda: get("funding_destination/", fund_currency="btc"))
check("bank_codes", lambda: [read(each, texts=["name", "code"]) for each in get("mx_bank_codes/")])

# What the client can ask for, and no document covers: refused, not answered with something made up.
check("open_orders without a book (asks for the book None)", lambda: orders("open_orders/?book=None"), "0301")
check("an order book of an unknown book", lambda: get("order_book/", signed=False, book="nope_nope"), "0301")
check("a ticker of an unknown book (the wire's old envelope, on which the client stumbles)", lambda: ticker(book="nope_nope"), "KeyError: 'success'")
check("a wrong amount", lambda: place(major="0"), "0408")
for path in ("bitcoin_withdrawal", "ether_withdrawal", "ripple_withdrawal", "spei_withdrawal", "debit_card_withdrawal", "phone_withdrawal"):
    check(f"{path} (not served: a market maker's key must not be able to)", lambda: request("POST", f"/api/v3/{path}/", body={"amount": "0.1"}), "HTTP 404, empty")
print(f"{calls - failures} calls as they must be, {failures} not")
sys.exit(min(failures, 100))
