"""Apple's verifier and OpenSSL judge what the mock store signs."""

import base64
import json
import subprocess
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

from kit import Failure, check, expect

APP = 1234567890

# How the verifier has to refuse each kind of broken proof: its status, and what the cause says.
BROKEN = {
    "expired-leaf": ("VERIFICATION_FAILURE", "certificate has expired"),
    "wrong-root": ("VERIFICATION_FAILURE", "issuer certificate"),
    "pasted-root": ("VERIFICATION_FAILURE", "issuer certificate"),
    "missing-leaf-oid": ("VERIFICATION_FAILURE", "1.2.840.113635.100.6.11.1"),
    "missing-intermediate-oid": ("VERIFICATION_FAILURE", "1.2.840.113635.100.6.2.1"),
    "short-chain": ("INVALID_CHAIN_LENGTH", ""),
    "wrong-algorithm": ("VERIFICATION_FAILURE", "Algorithm was not ES256"),
    "unsigned": ("VERIFICATION_FAILURE", "Algorithm was not ES256"),
    "tampered-payload": ("VERIFICATION_FAILURE", "Signature verification failed"),
}
# The defects that OpenSSL finds in a receipt, and what it says. It knows nothing of Apple's markers.
BROKEN_RECEIPTS = {
    "expired-leaf": "certificate has expired",
    "wrong-root": "certificate in certificate chain",
    "pasted-root": "Verify error",
    "short-chain": "unable to get local issuer certificate",
    "wrong-algorithm": "verification failure",
    "unsigned": "no signers",
    "tampered-payload": "verification failure",
}


def verifier(mock, online=False, environment=Environment.PRODUCTION, bundle=None, app=APP):
    root = mock.raw("/store/root.cer")
    return SignedDataVerifier([root], online, environment, bundle or mock.bundle_id, app)


def proofs(mock, broken=None):
    """Each kind of signed text, with the verifier's function for it and a question to its answer."""
    if not hasattr(mock, "plan"):
        mock.plan = mock.buy("basic.monthly", account="proofs")["transactionID"]
    query = f"broken={broken}" if broken else ""
    signed = mock.get(f"/store/transactions/{mock.plan}/signed?{query}")
    notification = mock.get(f"/store/transactions/{mock.plan}/notification?{query}")
    app = mock.get(f"/store/app-transaction?storeAccount=proofs&{query}")
    return [
        ("transaction", signed["signedTransactionInfo"], SignedDataVerifier.verify_and_decode_signed_transaction),
        ("renewal info", signed["signedRenewalInfo"], SignedDataVerifier.verify_and_decode_renewal_info),
        ("notification", notification["signedPayload"], SignedDataVerifier.verify_and_decode_notification),
        ("app transaction", app["signedAppTransactionInfo"], SignedDataVerifier.verify_and_decode_app_transaction),
    ]


def refusal(judge, text, decode):
    """The status and the cause with which the verifier refuses a text."""
    try:
        decode(judge, text)
    except VerificationException as error:
        return error.status.name, str(error.__cause__ or "")
    raise Failure("was accepted")


def openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def pem(mock, name, der):
    text = base64.encodebytes(der).decode()
    return mock.file(name, f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n".encode())


def chain(mock, jws):
    """The files of the leaf, the intermediate and the root in a JWS."""
    head = jws.split(".")[0]
    names = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["x5c"]
    return [pem(mock, f"{place}.pem", base64.b64decode(text)) for place, text in enumerate(names)]


@check("the root is the one in the repository")
def _(mock):
    expect(mock.raw("/store/root.cer") == open("Tests/Apple/Certificates/root.cer", "rb").read(), "another root")


@check("accepts each product's transaction, and a refunded one")
def _(mock):
    judge = verifier(mock)
    products = mock.get("/store/products")["products"]
    for place, item in enumerate(products):
        # A transaction of a bundle is of one of its subscriptions; the library has no model of the bundle.
        product, members = item["id"], [member["productID"] for member in item.get("members", [])]
        paid = mock.buy(product, account=f"buyer-{place}")
        read = judge.verify_and_decode_signed_transaction(paid["signedTransaction"])
        expect(read.transactionId == paid["transactionID"], "another transaction")
        expect(read.productId in (members or [product]) and read.signedDate, f"another product than {product}")
        refund = mock.post("/store/refunds", {"transactionID": paid["transactionID"]})
        notice = judge.verify_and_decode_notification(refund["signedPayload"])
        expect(notice.rawNotificationType == "REFUND", "no notification of the refund")
        inner = judge.verify_and_decode_signed_transaction(notice.data.signedTransactionInfo)
        expect(inner.revocationDate, f"{product} has no revocation date")
    return f"{len(products)} products"


@check("accepts transactions, renewal infos, notifications and app transactions")
def _(mock):
    judge = verifier(mock)
    kinds = proofs(mock)
    answers = {name: decode(judge, text) for name, text, decode in kinds}
    expect(answers["transaction"].transactionId == mock.plan, "another transaction")
    expect(answers["renewal info"].rawAutoRenewStatus == 1, "the renewal is off")
    expect(answers["notification"].data.appAppleId == APP, "another app")
    expect(answers["app transaction"].appAppleId == APP, "another app")
    return ", ".join(answers)


@check("accepts all of them with online checks: OCSP says that the certificates are good")
def _(mock):
    judge = verifier(mock, online=True)
    for _, text, decode in proofs(mock):
        decode(judge, text)


@check("accepts what is signed after the clock was moved by a year")
def _(mock):
    year = 365 * 86_400_000
    mock.post("/admin/clock", {"milliseconds": year})
    try:
        for _, text, decode in proofs(mock):
            decode(verifier(mock), text)
    finally:
        mock.post("/admin/clock", {"milliseconds": -year})


def refuse(defect):
    status, cause = BROKEN[defect]

    @check(f"refuses {defect}, in each kind of proof")
    def _(mock):
        for online in (False, True):
            for name, text, decode in proofs(mock, defect):
                found = refusal(verifier(mock, online), text, decode)
                expect(found[0] == status and cause in found[1], f"{name}: {found}")
        return f"{found[0]}: {found[1]}"


for defect in BROKEN:
    refuse(defect)


@check("refuses revoked with online checks, and cannot see it without")
def _(mock):
    for name, text, decode in proofs(mock, "revoked"):
        decode(verifier(mock), text)
        found = refusal(verifier(mock, online=True), text, decode)
        expect(found[0] == "VERIFICATION_FAILURE", f"{name}: {found}")
    return f"{found[0]}"


@check("refuses another app's proofs, and another environment's")
def _(mock):
    for name, text, decode in proofs(mock):
        if name != "renewal info":  # It names no app.
            found = refusal(verifier(mock, bundle="com.example.other"), text, decode)
            expect(found[0] == "INVALID_APP_IDENTIFIER", f"{name}: {found}")
        if name in ("notification", "app transaction"):
            found = refusal(verifier(mock, app=1), text, decode)
            expect(found[0] == "INVALID_APP_IDENTIFIER", f"{name}: {found}")
        found = refusal(verifier(mock, environment=Environment.SANDBOX), text, decode)
        expect(found[0] == "INVALID_ENVIRONMENT", f"{name}: {found}")


@check("refuses a proof under another root than the one that it trusts")
def _(mock):
    head = proofs(mock, "wrong-root")[0][1].split(".")[0]
    other = base64.b64decode(json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))["x5c"][2])
    judge = SignedDataVerifier([other], False, Environment.PRODUCTION, mock.bundle_id, APP)
    _, text, decode = proofs(mock)[0]
    found = refusal(judge, text, decode)
    # The other chain is a right one, under its own root: only the root tells them apart.
    decode(judge, proofs(mock, "wrong-root")[0][1])
    return f"{found[0]}: {found[1]}"


@check("openssl accepts the certificates by its strict rules")
def _(mock):
    leaf, intermediate, root = chain(mock, proofs(mock)[0][1])
    code, text = openssl("verify", "-x509_strict", "-CAfile", root, "-untrusted", intermediate, leaf)
    expect(code == 0, text)


@check("openssl asks the OCSP responder: good, and revoked")
def _(mock):
    for defect, word in ((None, "good"), ("revoked", "revoked")):
        leaf, intermediate, root = chain(mock, proofs(mock, defect)[0][1])
        code, text = openssl(
            "ocsp", "-issuer", intermediate, "-cert", leaf, "-CAfile", root, "-verify_other", intermediate,
            "-url", mock.base + "/store/ocsp")
        expect(code == 0 and "Response verify OK" in text and f": {word}" in text, text)


def receipt(mock, account, query=""):
    return base64.b64decode(mock.get(f"/store/receipt?storeAccount={account}{query}")["receipt"])


def judged(mock, content):
    path = mock.file("receipt.der", content)
    root = pem(mock, "root.pem", mock.raw("/store/root.cer"))
    out = str(mock.folder / "payload")
    return openssl("cms", "-verify", "-inform", "DER", "-in", path, "-CAfile", root, "-out", out)


@check("openssl cms accepts app receipts of 0 to 40 purchases")
def _(mock):
    code, text = judged(mock, receipt(mock, "empty"))
    expect(code == 0, text)
    sizes = []
    for count in range(1, 41):
        mock.buy("gems.100", account="receipts")
        if count in (1, 2, 40):
            content = receipt(mock, "receipts")
            sizes.append(len(content))
            code, text = judged(mock, content)
            expect(code == 0, f"{count} purchases: {text}")
    return f"{', '.join(map(str, sizes))} bytes"


@check("openssl cms refuses each broken app receipt that it can judge")
def _(mock):
    mock.buy("gems.100", account="broken-receipts")
    words = []
    for defect, cause in BROKEN_RECEIPTS.items():
        code, text = judged(mock, receipt(mock, "broken-receipts", f"&broken={defect}"))
        expect(code != 0, f"{defect} was accepted")
        expect(cause in text, f"{defect}: {text}")
        words.append(f"{defect}: {cause}")
    return "; ".join(words)


@check("the receipt utility extracts the ids of both kinds of receipt")
def _(mock):
    utility = ReceiptUtility()
    first = mock.buy("gems.100", account="ids")["transactionID"]
    found = utility.extract_transaction_id_from_app_receipt(base64.b64encode(receipt(mock, "ids")).decode())
    expect(found == first, f"{found}, not {first}")
    old = mock.buy(
        "coins.500", account="ids",
        delivery={"proofs": ["transactionReceipt"], "forgetsToken": False, "isUnverified": False})
    found = utility.extract_transaction_id_from_transaction_receipt(old["transactions"][0]["proof"])
    expect(found == old["transactionID"], f"{found}, not {old['transactionID']}")
    empty = utility.extract_transaction_id_from_app_receipt(base64.b64encode(receipt(mock, "none")).decode())
    expect(empty is None, f"{empty} in an empty receipt")


@check("the mock backend takes a right notification and refuses the broken ones")
def _(mock):
    for defect in (None, *BROKEN, "revoked"):
        text = proofs(mock, defect)[2][1]
        status, reply = mock.send("POST", "/v1/notifications/appstore", {"signedPayload": text})
        expect(status == (200 if defect is None else 422), f"{defect}: {status} {reply[:200]!r}")


@check("signs and verifies quickly")
def _(mock):
    judge = verifier(mock)
    count = 300
    start = time.monotonic()
    texts = [mock.get(f"/store/transactions/{mock.plan}/signed")["signedTransactionInfo"] for _ in range(count)]
    served = (time.monotonic() - start) / count
    start = time.monotonic()
    for text in texts:
        judge.verify_and_decode_signed_transaction(text)
    verified = (time.monotonic() - start) / count
    mock.buy("gems.100", account="quick")
    start = time.monotonic()
    for _ in range(20):
        mock.buy("gems.100", account="quick")
        receipt(mock, "quick")
    bought = (time.monotonic() - start) / 20
    return (
        f"a request with 2 signatures {served * 1000:.1f} ms, a verification {verified * 1000:.1f} ms, "
        f"a payment and its new receipt {bought * 1000:.1f} ms")
