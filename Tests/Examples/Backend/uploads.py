"""`POST /v1/receipts`: each claim gets a verdict, in a transaction of its own."""

import contextlib
import functools

from contract import check
from database import perform, row
from notifications import problem
from orders import register
from people import admit, credentials, note_device, signed_in
from proofs import LONGEST_RECEIPT, STORE, Aged, Doubtful, Ruling, Unknown, facts, rejected, token
from rules import Named, Sender, judge
from server import Problem, invalid, route


@route("POST", "/v1/receipts")
def upload(request):
    kind, name, *secret = credentials(request)
    body = request.json()
    is_old = isinstance(body, dict) and "receipt-data" in body
    check(body, "ReceiptUpload" if is_old else "UploadRequest")
    if kind == "device" and name != token(body["uuid" if is_old else "device"]):
        raise invalid("device: not the one of the Authorization header")
    if is_old and body.get("uid") not in (None, name):
        raise invalid("uid: not the one of the Authorization header")
    sender = Sender(account=name) if kind == "account" else Sender(device=name, signed_in=signed_in(request))
    claims = old_claims(body["receipt-data"]) if is_old else body["claims"]
    # About a receipt the store is asked once.
    proofs, receipt = body.get("proofs") or [], functools.cache(STORE.receipt)
    for claim in claims:
        if claim.get("proof") is not None and claim["proof"] >= len(proofs):
            raise invalid("proof: there is no such proof in the list")
        if claim["match"] == "bound" and not claim.get("orderNumber"):
            raise invalid("orderNumber: missing in a bound claim")
    admit(name, *secret) if secret else note_device(request)
    echoes = [{"environment": claim["environment"], "transactionID": claim["transactionID"]} for claim in claims]
    verdicts = [echo | answer(claim, proofs, receipt, sender) for echo, claim in zip(echoes, claims)]
    return 200, {"ledgerEpoch": row("epoch").epoch, "verdicts": verdicts}


def old_claims(receipt):
    """The claims of a receipt without claims: about each transaction in it, and without a word of whose it is."""
    try:
        ids = [STORE.payload(receipt)["transactionId"]] if "." in receipt else STORE.receipt(receipt)
    except Ruling as ruling:
        raise problem(ruling) from ruling
    return [{"transactionID": item, "environment": "Production", "match": "none"} for item in sorted(ids)]


def proven(claim, proofs, receipt):
    """The facts of the claimed transaction, and whether the sender has proved to have it."""
    identifier, proof = claim["transactionID"], {"kind": "none", "data": ""}
    if claim.get("proof") is not None:
        proof = proofs[claim["proof"]]
    if proof["kind"] == "signedTransaction":
        # An aged one is as none: the store's present record decides.
        with contextlib.suppress(Aged):
            payload = STORE.payload(proof["data"])
            if payload["transactionId"] != identifier:
                raise Unknown()
            return facts(payload), True
    is_receipt = proof["kind"] in ("appReceipt", "transactionReceipt") and len(proof["data"]) <= LONGEST_RECEIPT
    if is_receipt and identifier not in receipt(proof["data"]):
        raise Unknown()
    return facts(STORE.transaction(identifier)), is_receipt


def answer(claim, proofs, receipt, sender):
    """The verdict about a claim."""
    doubted = {"sender": sender.account or sender.device, "id": claim["transactionID"]}
    try:
        told, is_proven = proven(claim, proofs, receipt)
    except Doubtful as ruling:
        # One answer cannot know which. The fourth in a row is final.
        is_final = row("doubt", **doubted).times >= 4
        return rejected("malformed: the store said so four times").verdict if is_final else ruling.verdict
    except Ruling as ruling:
        perform(lambda session: session.run("no_doubt", **doubted))
        return ruling.verdict

    def work(session):
        session.run("no_doubt", **doubted)
        return judge(session, told, named, sender, is_proven)

    named = orders_of(claim, sender)
    if named is None:
        return {"verdict": "pending", "reason": "the order is not registered", "retryAfter": 30}
    return perform(work) or {"verdict": "unknownTransaction"}


def orders_of(claim, sender):
    """The orders that a claim names, and may bring along; None for one that its account has yet to register."""
    order = claim.get("order")
    if order and order["number"] != claim.get("orderNumber"):
        return Named()
    if order and sender.account is None and row("order", number=order["number"]) is None:
        return None
    if order and sender.account:
        try:
            perform(lambda session: register(session, order, sender.account))
        except Problem:
            return Named()  # The payment is real, whatever is wrong with the order.
    if claim["match"] == "bound":
        return Named(bound=claim["orderNumber"])
    return Named(candidates=tuple(claim.get("candidates") or ())) if claim["match"] == "proposed" else Named()
