"""What the store says: signed texts, which Apple's library verifies, and answers to questions."""

import contextlib
import json
import os
import pathlib
import uuid

import jwt
import requests
from appstoreserverlibrary.api_client import APIError, APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException, VerificationStatus

WHOLE = 100_000
# The store refuses a request with a longer receipt.
LONGEST_RECEIPT = 3_145_728 - 1_024


class Ruling(Exception):
    """Why a proof or an answer of the store says nothing of a transaction: the verdict about its claim."""

    def __init__(self, word, **more):
        super().__init__(more.get("reason", word))
        self.word, self.verdict = word, {"verdict": word, **more}


class Unknown(Ruling):
    """The proof does not hold the transaction, or the store does not know it."""

    def __init__(self):
        super().__init__("unknownTransaction")


class Aged(Unknown):
    """It was right when it was signed, but a certificate has ended since, or was revoked."""


class Doubtful(Ruling):
    """21002: malformed, or a temporary fault of the store."""


def rejected(reason):
    return Ruling("rejected", reason=reason)


def silent():
    """The store does not answer now, or this backend is not set up as it should be: no fault of the customer."""
    return Ruling("pending", retryAfter=30)


def facts(payload):
    """The columns of `transactions` for the payload of a signed transaction."""
    original = payload.get("originalTransactionId") or payload["transactionId"]
    expires, revoked = payload.get("expiresDate"), payload.get("revocationDate")
    ownership = payload.get("inAppOwnershipType", "PURCHASED")
    whole = payload.get("revocationType") in ("REFUND_FULL", "FAMILY_REVOKE")
    share = WHOLE if whole else payload.get("revocationPercentage", WHOLE)
    if not 0 <= share <= WHOLE:
        raise rejected("malformed: no refund has such a share")
    to_bundle = revoked is not None and payload.get("revocationReason") == 2
    upgraded = payload.get("isUpgraded", False) and expires is not None
    took = revoked is not None and not to_bundle and not (upgraded and share < WHOLE)
    return {
        "environment": payload["environment"],
        # A restored purchase has an id of its own, and was paid once. Each period of a subscription is paid.
        "id": payload["transactionId"] if expires else original,
        "original": original,
        "previous": payload.get("previousOriginalTransactionId"),
        "payment": payload.get("bundleTransactionId") or original,
        "in_bundle": "bundleTransactionId" in payload,
        "product": payload["productId"],
        "sold": payload.get("bundleProductId") or payload["productId"],
        # A member has one seat, whatever the purchaser bought.
        "quantity": 1 if ownership == "ASSIGNED" else payload.get("quantity", 1),
        "ownership": ownership,
        # Of what another person has paid, the token is that person's.
        "token": token(payload.get("appAccountToken")) if ownership == "PURCHASED" else None,
        "reason": payload.get("transactionReason", ""),
        "is_consumable": payload.get("type") == "Consumable",
        "purchased_at": payload["purchaseDate"],
        "expires_at": expires,
        "ends_at": expires and min(expires, revoked or expires),
        "is_replaced": upgraded or to_bundle,
        "share": share if took else None,
        "revoked_seats": (payload.get("multiSeatInfo") or {}).get("revokedSeatQuantity") or 0,
        "signed_at": payload["signedDate"]}


def token(text):
    """An account token; None for a text that is none of a backend."""
    try:
        return str(uuid.UUID(text)) if text else None
    except ValueError:
        return None


def peek(text):
    """The payload of a JWS, unverified."""
    return jwt.decode(text, options={"verify_signature": False})


class Store:
    """Apple's servers; with `STORE` in the environment, a mock of them."""

    def __init__(self):
        roots = [pathlib.Path(os.environ["STORE_ROOT"]).read_bytes()]
        key = json.loads(pathlib.Path(os.environ["STORE_KEY"]).read_text())
        mock = os.environ.get("STORE")
        self.bundle = key["bundleID"]
        self.verifiers = [
            (online, SignedDataVerifier(roots, online, place, self.bundle, key["appAppleID"]))
            for online in (True, False) for place in (Environment.PRODUCTION, Environment.SANDBOX)]
        self.clients = {}
        for place in (Environment.PRODUCTION, Environment.SANDBOX):
            client = AppStoreServerAPIClient(
                key["privateKey"].encode(), key["keyID"], key["issuerID"], self.bundle, place)
            client._base_url = mock or client._base_url  # The library has no other way to name a server.
            self.clients[place.value] = client
        self.receipts = ("https://buy.itunes.apple.com", "https://sandbox.itunes.apple.com")
        if mock:
            self.receipts = (mock, mock + "/sandbox")

    # Signed texts

    def payload(self, text, decode=SignedDataVerifier.verify_and_decode_signed_transaction):
        """The payload of a text that the store signed, with what the library has no model of."""
        refusal = None
        for online, verifier in self.verifiers:
            try:
                decode(verifier, text)
            except VerificationException as error:
                if error.status == VerificationStatus.RETRYABLE_VERIFICATION_FAILURE:
                    raise silent() from error
                if error.status == VerificationStatus.INVALID_APP_IDENTIFIER and self.names_app(text):
                    return peek(text)
                if error.status != VerificationStatus.INVALID_ENVIRONMENT:
                    refusal = error
            else:
                if not online:
                    raise Aged()
                return peek(text)
        raise rejected("forged: the store did not sign this proof for this app") from refusal

    def names_app(self, text):
        """The library verifies the signature, and then finds no app in a notification of seats (3.1.2)."""
        return (peek(text).get("unclaimInfo") or {}).get("bundleId") == self.bundle

    def transaction(self, identifier):
        """The present state of a transaction: *Get Transaction Info*. Its id does not tell the environment."""
        # Anything but digits in a path would be another path.
        if identifier.isascii() and identifier.isdigit():
            for client in self.clients.values():
                with contextlib.suppress(Unknown):
                    return self.record(self.ask(client.get_transaction_info, identifier).signedTransactionInfo)
        raise Unknown()

    def record(self, text):
        """The payload of an answer. One that the store did not sign is another server's, and says nothing."""
        try:
            return self.payload(text or "")
        except Ruling as ruling:
            raise silent() from ruling

    def statuses(self, chain, environment):
        """The last transaction of each subscription of a customer, with its renewal info, as signed texts."""
        answer = self.ask(self.clients[environment].get_all_subscription_statuses, chain)
        return [item for group in answer.data for item in group.lastTransactions]

    @staticmethod
    def ask(question, *arguments):
        try:
            return question(*arguments)
        except APIException as error:
            if error.api_error in (APIError.TRANSACTION_ID_NOT_FOUND, APIError.INVALID_TRANSACTION_ID):
                raise Unknown() from error
            raise silent() from error
        except (requests.RequestException, ValueError) as error:
            raise silent() from error

    def receipt(self, data):
        """The ids in a receipt. It proves that the sender has them; what they are worth the store says."""
        answer = self.verify_receipt(self.receipts[0], data)
        if answer.get("status") == 21007:
            answer = self.verify_receipt(self.receipts[1], data)
        status = answer.get("status")
        if status == 21002:
            raise Doubtful("pending")
        # The store spells this name in two ways.
        is_retryable = answer.get("is_retryable", answer.get("is-retryable", True))
        if status in (21003, 21010) or 21100 <= (status or 0) <= 21199 and not is_retryable:
            raise rejected(f"refused: the store's status is {status}")
        if status not in (0, 21006):
            raise silent()
        receipt = answer.get("receipt") or {}
        if receipt.get("bundle_id", receipt.get("bid")) != self.bundle:
            raise rejected("forged: a receipt of another app")
        parts = (
            receipt.get("in_app") or receipt, answer.get("latest_receipt_info") or [],
            answer.get("latest_expired_receipt_info") or [])
        items = [item for part in parts for item in (part if isinstance(part, list) else [part])]
        return {str(item["transaction_id"]) for item in items if "transaction_id" in item}

    @staticmethod
    def verify_receipt(host, data):
        try:
            return requests.post(host + "/verifyReceipt", json={"receipt-data": data}, timeout=30).json()
        except (requests.RequestException, ValueError) as error:
            raise silent() from error


STORE = Store()
