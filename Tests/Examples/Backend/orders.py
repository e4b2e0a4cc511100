"""Orders: made before the payment, or taken over from a device that made them."""

import psycopg2.errors

from contract import check
from database import perform
from people import account
from proofs import token
from server import Problem, invalid, malformed, route


@route("POST", "/v1/orders")
def make(request):
    owner, key = account(request), request.header("Idempotency-Key")
    if not key or len(key) > 255:
        raise malformed("Idempotency-Key: missing, or too long")
    body = check(request.json(), "OrderRequest")
    wish = {"account": owner, "key": key, "product": body["productID"], "quantity": body["quantity"]}
    try:
        is_new, order = perform(
            lambda session: (session.run("make_order", **wish), session.row("order_by_key", **wish)))
    except psycopg2.errors.ForeignKeyViolation:
        raise invalid("productID: it is not sold") from None
    if (order.product, order.quantity) != (wish["product"], wish["quantity"]):
        raise invalid("the key belongs to another order", "idempotency")
    return 201 if is_new else 200, order.document


@route("GET", "/v1/orders")
def listing(request):
    owner, limit = account(request), request.query.get("limit", "100")
    if limit.startswith("-") or limit == "0":
        raise invalid("limit: 1 or more")
    limit = min(int(limit), 100) if limit.isascii() and limit.isdigit() else 100
    rows = perform(lambda session: session.rows(
        "orders", account=owner, state=request.query.get("state"), after=request.query.get("after"), limit=limit + 1))
    page = {"orders": [order.document for order in rows[:limit]]}
    return 200, page | ({"next": rows[limit - 1].number} if len(rows) > limit else {})


def own(session, number, owner):
    order = session.row("order", number=number)
    if order is None:
        raise Problem(404, "not-found", "there is no such order")
    if order.account != owner:
        raise Problem(403, "forbidden", "the order is another account's")
    return order


@route("GET", "/v1/orders/([^/]+)")
def read(request, number):
    owner = account(request)
    return 200, perform(lambda session: own(session, number, owner)).document


@route("POST", "/v1/orders/([^/]+)/(cancel|defer)")
def move(request, number, action):
    owner = account(request)

    def work(session):
        own(session, number, owner)
        session.run("move_order", number=number, state={"cancel": "cancelled", "defer": "deferred"}[action])
        return own(session, number, owner)

    return 200, perform(work).document


@route("PUT", "/v1/orders/([^/]+)")
def put(request, number):
    owner, order = account(request), check(request.json(), "DeviceOrder")
    if order["number"] != number:
        raise invalid("number: not the one of the path")
    is_new, document = perform(lambda session: register(session, order, owner))
    return 201 if is_new else 200, document


def register(session, order, owner):
    """Takes over an order that a device made, once. A known number or token with other contents is refused."""
    if order["account"] != owner:
        raise Problem(403, "forbidden", "the order is another account's")
    if not order["number"].startswith("device-") or not token(order["number"].removeprefix("device-")):
        raise invalid("number: it has to be device- and a UUID")
    try:
        is_new = session.run("register_order", **order)
    except psycopg2.errors.ForeignKeyViolation:
        raise invalid("productID: it is not sold") from None
    known = session.row("order", number=order["number"])
    told = (owner, token(order["accountToken"]), order["productID"], order["quantity"])
    if known is None or (known.account, known.token, known.product, known.quantity) != told:
        raise Problem(409, "order-conflict", "another order has this number or token")
    session.run("move_order", number=order["number"], state=order["state"])
    return is_new, session.row("order", number=order["number"]).document
