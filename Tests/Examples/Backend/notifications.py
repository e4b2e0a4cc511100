"""What the store says without a claim: by a notification, or when the job asks."""

import contextlib

from contract import check
from database import perform
from proofs import STORE, Doubtful, Ruling, SignedDataVerifier, Unknown, facts
from rules import judge
from server import Problem, invalid, route


@route("POST", "/v1/notifications/appstore")
def notify(request):
    body = check(request.json(), "StoreNotification")
    try:
        # Commit, then answer: the store posts again what is not answered with 200.
        return learn_signed(body["signedPayload"]) if "signedPayload" in body else learn_by_asking(body)
    except Ruling as ruling:
        raise problem(ruling) from ruling


def problem(ruling):
    """The refusal of what is no claim, and so gets no verdict."""
    if ruling.word == "pending" and not isinstance(ruling, Doubtful):
        return Problem(503, "store", "the store does not answer: send it again")
    return invalid("the store did not sign it for this app")


def learn_signed(text):
    payload = STORE.payload(text, SignedDataVerifier.verify_and_decode_notification)
    data = payload.get("data") or {}
    if "signedTransactionInfo" in data:
        learn(data["signedTransactionInfo"], data.get("signedRenewalInfo"))
        return 200, {}
    if payload["notificationType"] in ("REFUND", "REVOKE"):
        raise invalid("signedTransactionInfo: missing")
    return 202, {}


def learn(transaction, renewal=None):
    told = facts(STORE.payload(transaction))
    info = STORE.payload(renewal, SignedDataVerifier.verify_and_decode_renewal_info) if renewal else None

    def work(session):
        if info:
            session.run(
                "learn_renewal", environment=info["environment"], chain=info["originalTransactionId"],
                grace_until=info.get("gracePeriodExpiresDate"), will_renew=info.get("autoRenewStatus") == 1,
                signed_at=info["signedDate"])
        judge(session, told)

    perform(work)


def learn_by_asking(body):
    """Version 1 is not signed, and every client can post one: it is a reason to ask the store, and no more."""
    items = (body.get("unified_receipt") or {}).get("latest_receipt_info") or []
    items = items if isinstance(items, list) else [items]
    ids = {str(item.get("transaction_id")) for item in items if isinstance(item, dict)}
    if len(ids) > 100:
        raise invalid("unified_receipt.latest_receipt_info: the store sends at most 100")
    for identifier in ids:
        with contextlib.suppress(Unknown):
            told = facts(STORE.transaction(identifier))
            perform(lambda session: judge(session, told))
    return 200, {}
