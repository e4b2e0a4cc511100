"""Apple's library reads what the store of 2026 adds, where it has a model for it."""

import time

import attr
from appstoreserverlibrary.models.BillingPlanType import BillingPlanType
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.JWSRenewalInfoDecodedPayload import JWSRenewalInfoDecodedPayload
from appstoreserverlibrary.models.JWSTransactionDecodedPayload import JWSTransactionDecodedPayload
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OfferType import OfferType
from appstoreserverlibrary.models.RevocationType import RevocationType
from appstoreserverlibrary.models.Subtype import Subtype

from kit import check, expect
from verifier_checks import refusal, verifier

DAY = 86_400_000


@check("reads the share of a refund of a part")
def _(mock):
    paid = mock.buy("gems.100", account="part", quantity=3)
    notice = mock.post("/store/refunds", {"transactionID": paid["transactionID"], "units": 1})
    judge = verifier(mock)
    inner = judge.verify_and_decode_notification(notice["signedPayload"]).data.signedTransactionInfo
    read = judge.verify_and_decode_signed_transaction(inner)
    expect(read.revocationType == RevocationType.REFUND_PRORATED, f"the type {read.rawRevocationType}")
    expect(read.revocationPercentage == 33_333, f"the share {read.revocationPercentage}")


@check("reads the payments of a commitment, and what follows it")
def _(mock):
    judge = verifier(mock)
    paid = mock.buy("club.monthly", account="club")
    mock.post("/store/renewal-wishes", {"transactionID": paid["transactionID"], "willRenew": False})
    read = judge.verify_and_decode_signed_transaction(paid["signedTransaction"])
    expect(read.billingPlanType == BillingPlanType.MONTHLY, f"the plan {read.rawBillingPlanType}")
    commitment = read.commitmentInfo
    expect((commitment.billingPeriodNumber, commitment.totalBillingPeriods) == (1, 12), f"{commitment}")
    expect(commitment.commitmentExpiresDate > read.expiresDate, "the commitment ends with its first month")
    signed = mock.get(f"/store/transactions/{paid['transactionID']}/signed")["signedRenewalInfo"]
    renewal = judge.verify_and_decode_renewal_info(signed)
    expect(renewal.rawAutoRenewStatus == 1, "the next payment is not certain")
    expect(renewal.commitmentInfo.rawCommitmentAutoRenewStatus == 0, "the next commitment is not off")


@check("reads a withdrawn consent")
def _(mock):
    mock.buy("gems.100", account="child")
    judge = verifier(mock)
    notice = judge.verify_and_decode_notification(
        mock.post("/store/consent-withdrawals", {"storeAccount": "child"})["signedPayload"])
    expect(notice.notificationType == NotificationTypeV2.RESCIND_CONSENT, notice.rawNotificationType)
    expect(notice.data is None, "it is about a transaction")
    app = judge.verify_and_decode_app_transaction(notice.appData.signedAppTransactionInfo)
    expect(app.appTransactionId, "it names no store account")


@check("judges an old proof as of its signedDate without online checks, and as of now with them")
def _(mock):
    back = 1_760_140_799_000 - 30 * DAY - int(time.time() * 1000)
    mock.post("/admin/clock", {"milliseconds": back})
    try:
        paid = mock.buy("gems.100", account="old")
        old = mock.get(f"/store/transactions/{paid['transactionID']}/signed?chain=ended")["signedTransactionInfo"]
    finally:
        mock.post("/admin/clock", {"milliseconds": -back})
    read = verifier(mock).verify_and_decode_signed_transaction(old)
    expect(read.transactionId == paid["transactionID"], "another transaction")
    status, cause = refusal(verifier(mock, online=True), old, type(verifier(mock)).verify_and_decode_signed_transaction)
    expect("expired" in cause, f"{status}: {cause}")
    return f"with online checks: {status}, {cause}"


@check("has no models for seats, bundles and retention offers: nothing judges those of the mock store")
def _(mock):
    missing = {
        "multiSeatInfo": JWSTransactionDecodedPayload, "additionalTransactionReason": JWSTransactionDecodedPayload,
        "bundleProductId": JWSTransactionDecodedPayload, "renewalQuantity": JWSRenewalInfoDecodedPayload,
        "willUnbundle": JWSRenewalInfoDecodedPayload,
    }
    known = [name for name, model in missing.items() if name in attr.fields_dict(model)]
    words = [("ASSIGNED", InAppOwnershipType), ("UNCLAIM_SEATS", NotificationTypeV2), ("SEATS", Subtype)]
    known += [word for word, vocabulary in words if word in vocabulary.__members__]
    known += ["offer type 5"] if 5 in [offer.value for offer in OfferType] else []
    expect(not known, f"it has models now, so write checks: {', '.join(known)}")
    return "missing: " + ", ".join([*missing, *(word for word, _ in words), "offer type 5"])
