"""Calls the mock store's App Store Server API with Apple's own client for Python, each endpoint and its errors.

    python client_checks.py [BASE_URL]

BASE_URL (or the environment's PURCHASE_SYNC_URL) is that of a running `purchase-simulator serve`. With
PURCHASE_SIMULATOR, the path of the program, the script starts the servers that it needs by itself, and also checks
the sandbox and the shared secret. Needs app-store-server-library 3.1.2.
"""

import base64
import json
import os
import subprocess
import sys
import time
import uuid
import warnings

import jwt
import requests
from appstoreserverlibrary.api_client import (
    APIError, APIException, AppStoreServerAPIClient, GetTransactionHistoryVersion)
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.Subtype import Subtype
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UserStatus import UserStatus

V1, V2 = GetTransactionHistoryVersion.V1, GetTransactionHistoryVersion.V2
DAY = 86_400_000


class Checks:
    """Counts what holds, and prints what does not."""

    def __init__(self):
        self.passed = self.failed = 0

    def that(self, holds, what):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED: {what}")

    def equal(self, found, expected, what):
        self.that(found == expected, f"{what}: {found!r}, not {expected!r}")

    def refused(self, call, error, what, status=None):
        """The call ends with Apple's error; `error` None: only the HTTP status."""
        try:
            call()
        except APIException as exception:
            found = (exception.http_status_code, exception.api_error)
            self.equal(found, (status or int(str(error.value)[:3]), error), what)
            if error:
                self.that(bool(exception.error_message), f"{what}: no message")
        else:
            self.that(False, f"{what}: accepted")


class Store:
    """A running mock store: what people do there, and Apple's client for it."""

    def __init__(self, base):
        self.base = base.rstrip("/")
        self.key = requests.get(self.base + "/store/api-key", timeout=30).json()

    def client(self, environment=Environment.PRODUCTION, **changes):
        key = {**self.key, **changes}
        client = AppStoreServerAPIClient(
            key["privateKey"].encode(), key["keyID"], key["issuerID"], key["bundleID"], environment)
        client._base_url = self.base  # The library has no other way to name the server.
        return client

    def call(self, path, body, method="POST"):
        response = requests.request(method, self.base + path, json=body, timeout=30)
        assert response.status_code < 300, (path, response.status_code, response.text)
        return response.json()

    def pay(self, account, product, **more):
        return self.call("/store/payments", {"storeAccount": account, "productID": product, **more})


def payload(jws):
    """What a JWS says; the signature is checked by verifier_checks.py."""
    part = jws.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def ids(signed):
    return [payload(jws)["transactionId"] for jws in signed]


def all_pages(client, any_id, request=None, version=V2):
    pages, revision = [], None
    while True:
        page = client.get_transaction_history(any_id, revision, request or TransactionHistoryRequest(), version)
        pages.append(ids(page.signedTransactions))
        if not page.hasMore:
            return pages, page
        revision = page.revision


def check_tokens(checks, store):
    any_id = store.pay("tokens", "gems.100")["transactionID"]

    path = f"{store.base}/inApps/v1/transactions/{any_id}"
    good = store.client()
    checks.equal(payload(good.get_transaction_info(any_id).signedTransactionInfo)["transactionId"], any_id, "info")

    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    foreign = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    for what, changes in {
        "another key": {"privateKey": foreign}, "another key ID": {"keyID": "ABCDEFGHIJ"},
        "another issuer": {"issuerID": str(uuid.uuid4())}, "another app": {"bundleID": "com.example.other"},
    }.items():
        client = store.client(**changes)
        checks.refused(lambda: client.get_transaction_info(any_id), None, f"a token of {what}", status=401)

    now = int(time.time())
    claims = {"iss": store.key["issuerID"], "iat": now, "exp": now + 300, "aud": "appstoreconnect-v1",
              "bid": store.key["bundleID"]}
    def status(claims, algorithm="ES256", key=store.key["privateKey"]):
        token = jwt.encode(claims, key, algorithm=algorithm, headers={"kid": store.key["keyID"]})
        return requests.get(path, headers={"Authorization": "Bearer " + token}, timeout=30).status_code
    checks.equal(status(claims), 200, "a token with iat")
    checks.equal(status({**claims, "exp": now + 3600}), 200, "a token of 60 minutes")
    checks.equal(status({**claims, "exp": now + 3700}), 401, "a token of more than 60 minutes")
    checks.equal(status({**claims, "exp": now - 1}), 401, "an expired token")
    checks.equal(status({**claims, "aud": "appstoreconnect-v2"}), 401, "a token for another audience")
    checks.equal(status(claims, "none", None), 401, "a token without a signature")
    checks.equal(status(claims, "HS256", "secret" * 8), 401, "a token with a shared secret")
    bare = requests.get(path, timeout=30)
    checks.equal((bare.status_code, bare.text.split()[0]), (401, "Unauthenticated"), "no token")


def check_history(checks, store):
    client = store.client()
    bought = [store.pay("history", "gems.100")["transactionID"] for _ in range(44)]
    unlock = store.pay("history", "unlock")["transactionID"]
    plan = store.pay("history", "basic.monthly")["transactionID"]
    everything = bought + [unlock, plan]
    pages, last = all_pages(client, plan)
    checks.equal([len(page) for page in pages], [20, 20, 6], "the pages of a history")
    checks.equal(sum(pages, []), everything, "the history, oldest first")
    checks.equal((last.bundleId, last.appAppleId, last.environment),
                 (store.key["bundleID"], store.key["appAppleID"], Environment.PRODUCTION), "whose history it is")

    def listed(**filters):
        return sum(all_pages(client, bought[0], TransactionHistoryRequest(**filters))[0], [])
    checks.equal(listed(sort=Order.DESCENDING), everything[::-1], "the history, newest first")
    checks.equal(listed(productIds=["unlock", "basic.monthly"]), [unlock, plan], "two products")
    checks.equal(listed(productTypes=[ProductType.NON_CONSUMABLE, ProductType.AUTO_RENEWABLE]), [unlock, plan],
                 "two kinds of products")
    checks.equal(listed(productTypes=[ProductType.NON_RENEWABLE]), [], "a kind that was not bought")
    checks.equal(listed(subscriptionGroupIdentifiers=["plans"]), [plan], "a subscription group")
    checks.equal(len(listed(inAppOwnershipType=InAppOwnershipType.PURCHASED)), 46, "what was purchased")
    checks.equal(listed(inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED), [], "what was shared")
    bounds = payload(client.get_transaction_info(unlock).signedTransactionInfo)["purchaseDate"]
    checks.that(unlock in listed(startDate=bounds), "a start date counts itself")
    checks.that(unlock not in listed(endDate=bounds), "an end date does not count itself")
    store.call("/store/refunds", {"transactionID": bought[7]})
    checks.equal(listed(revoked=True), [bought[7]], "what was refunded")
    checks.equal(len(listed(revoked=False)), 45, "what was not refunded")
    revision = last.revision
    news = client.get_transaction_history(plan, revision, TransactionHistoryRequest(), V2)
    checks.equal(ids(news.signedTransactions), [bought[7]], "what changed since the last page")
    store.call("/store/finish", {"transactionIDs": [bought[0]]})
    first = sum(all_pages(client, plan, version=V1)[0], [])
    checks.that(bought[0] not in first and len(first) == 45, "version 1 has no finished consumable")

    for call, error in [
        (lambda: client.get_transaction_history("404", None, TransactionHistoryRequest(), V2),
         APIError.TRANSACTION_ID_NOT_FOUND),
        (lambda: client.get_transaction_history("abc", None, TransactionHistoryRequest(), V2),
         APIError.INVALID_TRANSACTION_ID),
        (lambda: client.get_transaction_history(plan, "abc", TransactionHistoryRequest(), V2),
         APIError.INVALID_REQUEST_REVISION),
        (lambda: client.get_transaction_history(plan, None, TransactionHistoryRequest(startDate=2, endDate=1), V2),
         APIError.START_DATE_AFTER_END_DATE),
        (lambda: client.get_transaction_history(plan, None, TransactionHistoryRequest(startDate="x"), V2),
         APIError.INVALID_START_DATE),
        (lambda: client.get_transaction_history(plan, None, TransactionHistoryRequest(endDate="x"), V2),
         APIError.INVALID_END_DATE),
        (lambda: client.get_transaction_history(plan, None, TransactionHistoryRequest(productIds=[""]), V2),
         APIError.INVALID_PRODUCT_ID),
        (lambda: client.get_transaction_history(
            plan, None, TransactionHistoryRequest(subscriptionGroupIdentifiers=[""]), V2),
         APIError.INVALID_SUBSCRIPTION_GROUP_IDENTIFIER),
        (lambda: client.get_transaction_history(plan, None, TransactionHistoryRequest(revoked="maybe"), V2),
         APIError.INVALID_REVOKED),
        (lambda: client.get_transaction_info("404"), APIError.TRANSACTION_ID_NOT_FOUND),
        (lambda: client.get_transaction_info("abc"), APIError.INVALID_TRANSACTION_ID),
    ]:
        checks.refused(call, error, error.name)
    for name, error in [("productType", APIError.INVALID_PRODUCT_TYPE), ("sort", APIError.INVALID_SORT),
                        ("inAppOwnershipType", APIError.INVALID_IN_APP_OWNERSHIP_TYPE)]:
        checks.refused(
            lambda: client._make_request(f"/inApps/v2/history/{plan}", "GET", {name: ["x"]}, None, None),
            error, error.name)


def check_refunds_and_orders(checks, store):
    client = store.client()
    paid = [store.pay("refunds", "gems.100") for _ in range(25)]
    for payment in reversed(paid):
        store.call("/store/refunds", {"transactionID": payment["transactionID"]})
    first = client.get_refund_history(paid[0]["transactionID"], None)
    second = client.get_refund_history(paid[0]["transactionID"], first.revision)
    refunded = ids(first.signedTransactions) + ids(second.signedTransactions)
    checks.equal((first.hasMore, second.hasMore, len(refunded)), (True, False, 25), "the pages of the refunds")
    checks.equal(set(refunded), {payment["transactionID"] for payment in paid}, "the refunds")
    checks.that("revocationDate" in payload(first.signedTransactions[0]), "a refund has its date")
    checks.refused(lambda: client.get_refund_history("404", None), APIError.TRANSACTION_ID_NOT_FOUND, "refunds of none")

    order = client.look_up_order_id(paid[3]["orderID"])
    checks.equal((order.status, ids(order.signedTransactions)),
                 (OrderLookupStatus.VALID, [paid[3]["transactionID"]]), "an order")
    unknown = client.look_up_order_id("M404")
    checks.equal((unknown.status, unknown.signedTransactions), (OrderLookupStatus.INVALID, None), "no order")

    app = payload(client.get_app_transaction_info(paid[0]["transactionID"]).signedAppTransactionInfo)
    checks.equal(app["bundleId"], store.key["bundleID"], "the app transaction")
    again = client.get_app_transaction_info(app["appTransactionId"])
    checks.equal(payload(again.signedAppTransactionInfo)["appTransactionId"], app["appTransactionId"], "by its own ID")
    checks.refused(lambda: client.get_transaction_info(app["appTransactionId"]),
                   APIError.APP_TRANSACTION_ID_NOT_SUPPORTED_ERROR, "info by the ID of the app transaction")
    checks.equal(len(ids(client.get_transaction_history(
        app["appTransactionId"], None, TransactionHistoryRequest(), V2).signedTransactions)), 20, "history by it")
    checks.refused(lambda: client.get_app_transaction_info("404"), APIError.TRANSACTION_ID_NOT_FOUND, "none")


def check_subscriptions(checks, store):
    client = store.client()
    plan = store.pay("plans", "basic.monthly")["transactionID"]
    statuses = client.get_all_subscription_statuses(plan)
    group = statuses.data[0]
    item = group.lastTransactions[0]
    checks.equal((group.subscriptionGroupIdentifier, item.originalTransactionId, item.status),
                 ("plans", plan, Status.ACTIVE), "the status of a subscription")
    checks.equal(payload(item.signedRenewalInfo)["autoRenewStatus"], 1, "its renewal")
    checks.equal(len(client.get_all_subscription_statuses(plan, [Status.ACTIVE, Status.REVOKED]).data), 1, "filtered")
    checks.equal(client.get_all_subscription_statuses(plan, [Status.EXPIRED]).data, [], "filtered out")
    checks.refused(lambda: client.get_all_subscription_statuses("404"), APIError.TRANSACTION_ID_NOT_FOUND, "none")
    checks.refused(
        lambda: client._make_request(f"/inApps/v1/subscriptions/{plan}", "GET", {"status": ["9"]}, None, None),
        APIError.INVALID_STATUS, "a wrong status")

    def extend(transaction, days=10, reason=ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE, identifier=None):
        return client.extend_subscription_renewal_date(transaction, ExtendRenewalDateRequest(
            days, reason, str(uuid.uuid4()) if identifier is None else identifier))
    before = payload(item.signedTransactionInfo)["expiresDate"]
    extended = extend(plan)
    checks.equal((extended.success, extended.originalTransactionId, extended.effectiveDate),
                 (True, plan, before + 10 * DAY), "an extension")
    checks.equal(payload(client.get_transaction_info(plan).signedTransactionInfo)["expiresDate"], before + 10 * DAY,
                 "the end of the period after it")
    extend(plan)
    checks.refused(lambda: extend(plan), APIError.SUBSCRIPTION_MAX_EXTENSION, "a third extension")
    trial = store.pay("trial", "premium.monthly")["transactionID"]
    checks.refused(lambda: extend(trial), APIError.SUBSCRIPTION_EXTENSION_INELIGIBLE, "a trial")
    checks.refused(lambda: extend("404"), APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND, "an unknown subscription")
    checks.refused(lambda: extend("abc"), APIError.INVALID_ORIGINAL_TRANSACTION_ID, "an ID of letters")
    checks.refused(lambda: extend(plan, 91), APIError.INVALID_EXTEND_BY_DAYS, "91 days")
    checks.refused(lambda: client.extend_subscription_renewal_date(plan, ExtendRenewalDateRequest(5, None, "r")),
                   APIError.INVALID_EXTEND_REASON_CODE, "no reason")
    checks.refused(lambda: extend(plan, identifier=""), APIError.INVALID_REQUEST_IDENTIFIER, "no identifier")

    fresh = store.pay("mass", "basic.yearly")["transactionID"]
    end = payload(client.get_transaction_info(fresh).signedTransactionInfo)["expiresDate"]
    def mass(identifier, product="basic.yearly", codes=None):
        return client.extend_renewal_date_for_all_active_subscribers(MassExtendRenewalDateRequest(
            5, ExtendReasonCode.OTHER, identifier, codes, product))
    name = str(uuid.uuid4())
    checks.equal(mass(name, codes=["USA"]).requestIdentifier, name, "an extension for all")
    status = client.get_status_of_subscription_renewal_date_extensions(name, "basic.yearly")
    checks.equal((status.complete, status.succeededCount, status.failedCount), (True, 1, 0), "its status")
    checks.equal(payload(client.get_transaction_info(fresh).signedTransactionInfo)["expiresDate"], end + 5 * DAY,
                 "the end of the period after it")
    checks.refused(lambda: client.get_status_of_subscription_renewal_date_extensions("none", "basic.yearly"),
                   APIError.STATUS_REQUEST_NOT_FOUND, "the status of no request")
    checks.refused(lambda: mass("r", "unlock"), APIError.INVALID_PRODUCT_ID, "no subscription")
    checks.refused(lambda: mass("r", codes=[]), APIError.INVALID_EMPTY_STOREFRONT_COUNTRY_CODE_LIST, "no storefront")
    checks.refused(lambda: mass("r", codes=["x"]), APIError.INVALID_STOREFRONT_COUNTRY_CODE, "a wrong storefront")


def check_changes(checks, store):
    client = store.client()
    code = store.call("/store/offer-codes", {"offerCode": "SPRING", "productID": "basic.monthly", "storeAccount": "c"})
    plan, token = code["transactionID"], str(uuid.uuid4())
    def told():
        return payload(client.get_transaction_info(plan).signedTransactionInfo)
    checks.that("appAccountToken" not in told(), "an offer code's purchase has no token")
    def set_token(transaction, token):
        client.set_app_account_token(transaction, UpdateAppAccountTokenRequest(token))
    set_token(plan, token)
    checks.equal(told().get("appAccountToken"), token, "the token that was set")
    set_token(plan, str(uuid.UUID(int=7)))
    checks.equal(told().get("appAccountToken"), str(uuid.UUID(int=7)), "the token that replaced it")
    renewed = store.call("/store/renewals", {"transactionID": plan})["transactions"][0]["transactionID"]
    checks.equal(payload(client.get_transaction_info(renewed).signedTransactionInfo)["appAccountToken"],
                 str(uuid.UUID(int=7)), "the token of the renewal")
    checks.refused(lambda: set_token(plan, "x"), APIError.INVALID_APP_ACCOUNT_TOKEN_UUID_ERROR, "no UUID")
    checks.refused(lambda: set_token(renewed, token),
                   APIError.TRANSACTION_ID_IS_NOT_ORIGINAL_TRANSACTION_ID_ERROR, "the ID of a renewal")
    checks.refused(lambda: set_token("404", token), APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND, "an unknown ID")
    store.call("/store/accounts", {"storeAccount": "owner", "family": ["member"]})
    store.pay("owner", "unlock.family")
    listed = requests.get(store.base + "/store/unfinished?storeAccount=member", timeout=30).json()
    share = listed["transactions"][0]["transactionID"]
    checks.refused(lambda: set_token(share, token), APIError.FAMILY_TRANSACTION_NOT_SUPPORTED_ERROR, "a share")

    gems = store.pay("finish", "gems.100")["transactionID"]
    def unfinished():
        return requests.get(store.base + "/store/unfinished?storeAccount=finish", timeout=30).json()["transactions"]
    checks.equal(len(unfinished()), 1, "an unfinished transaction")
    client.finish_transaction(gems)
    checks.equal(unfinished(), [], "a finished transaction")
    client.finish_transaction(gems)
    device = store.call("/store/finish", {"transactionIDs": [gems], "storeAccount": "finish"})
    checks.equal(device["results"], {gems: "finished"}, "the device's own finish after it")
    checks.refused(lambda: client.finish_transaction("404"), APIError.TRANSACTION_ID_NOT_FOUND, "an unknown ID")
    checks.refused(lambda: client.finish_transaction("abc"), APIError.INVALID_TRANSACTION_ID, "an ID of letters")

    report = ConsumptionRequest(
        customerConsented=True, sampleContentProvided=False, deliveryStatus=DeliveryStatus.DELIVERED,
        consumptionPercentage=50_000, refundPreference=RefundPreference.GRANT_PRORATED)
    client.send_consumption_information(gems, report)
    checks.passed += 1
    refusals = [
        ("404", report, APIError.TRANSACTION_ID_NOT_FOUND),
        (gems, ConsumptionRequest(False, False, DeliveryStatus.DELIVERED), APIError.INVALID_CUSTOMER_CONSENTED),
        (gems, ConsumptionRequest(True, False, rawDeliveryStatus="LOST"), APIError.INVALID_DELIVERY_STATUS),
        (share, report, APIError.FAMILY_TRANSACTION_NOT_SUPPORTED_ERROR)]
    for transaction, body, error in refusals:
        checks.refused(lambda: client.send_consumption_information(transaction, body), error, error.name)
    check_consumption_version1(checks, store, client, gems)


def check_consumption_version1(checks, store, client, gems):
    warnings.simplefilter("ignore", DeprecationWarning)
    fields = dict(
        customerConsented=True, consumptionStatus=ConsumptionStatus.NOT_CONSUMED, platform=Platform.APPLE,
        sampleContentProvided=False, deliveryStatus=DeliveryStatusV1.DELIVERED_AND_WORKING_PROPERLY,
        appAccountToken=str(uuid.uuid4()), accountTenure=AccountTenure.UNDECLARED, playTime=PlayTime.UNDECLARED,
        lifetimeDollarsRefunded=LifetimeDollarsRefunded.UNDECLARED,
        lifetimeDollarsPurchased=LifetimeDollarsPurchased.UNDECLARED, userStatus=UserStatus.ACTIVE)
    client.send_consumption_data(gems, ConsumptionRequestV1(**fields))
    checks.passed += 1
    for name, error in [
        ("customerConsented", APIError.INVALID_CUSTOMER_CONSENTED),
        ("consumptionStatus", APIError.INVALID_CONSUMPTION_STATUS), ("platform", APIError.INVALID_PLATFORM),
        ("sampleContentProvided", APIError.INVALID_SAMPLE_CONTENT_PROVIDED),
        ("deliveryStatus", APIError.INVALID_DELIVERY_STATUS), ("accountTenure", APIError.INVALID_ACCOUNT_TENURE),
        ("playTime", APIError.INVALID_PLAY_TIME), ("userStatus", APIError.INVALID_USER_STATUS),
        ("lifetimeDollarsRefunded", APIError.INVALID_LIFETIME_DOLLARS_REFUNDED),
        ("lifetimeDollarsPurchased", APIError.INVALID_LIFETIME_DOLLARS_PURCHASED),
    ]:
        body = ConsumptionRequestV1(**{key: value for key, value in fields.items() if key != name})
        checks.refused(lambda: client.send_consumption_data(gems, body), error, error.name)
    body = ConsumptionRequestV1(**{**fields, "appAccountToken": "x"})
    checks.refused(lambda: client.send_consumption_data(gems, body), APIError.INVALID_APP_ACCOUNT_TOKEN, "token x")
    unlock = store.pay("finish", "unlock")["transactionID"]
    checks.refused(lambda: client.send_consumption_data(unlock, ConsumptionRequestV1(**fields)),
                   APIError.INVALID_TRANSACTION_TYPE_NOT_SUPPORTED, "version 1 about a non-consumable")


def check_notifications(checks, store):
    client = store.client()
    token = client.request_test_notification().testNotificationToken
    deadline = time.monotonic() + 60
    status = None
    while status is None and time.monotonic() < deadline:
        try:
            status = client.get_test_notification_status(token)
        except APIException as exception:
            # As Apple's store: not found until an attempt was made.
            checks.equal(exception.api_error, APIError.TEST_NOTIFICATION_NOT_FOUND, "a test that was not posted yet")
            time.sleep(0.1)
    checks.that(status is not None, "the status of a test notification")
    if status:
        checks.equal(payload(status.signedPayload)["notificationType"], "TEST", "the test notification")
        checks.equal(status.sendAttempts[0].sendAttemptResult, SendAttemptResult.SUCCESS, "its attempt")
    checks.refused(lambda: client.get_test_notification_status("x"), APIError.INVALID_TEST_NOTIFICATION_TOKEN, "x")
    checks.refused(lambda: client.get_test_notification_status(f"{uuid.uuid4()}_1"),
                   APIError.TEST_NOTIFICATION_NOT_FOUND, "no test")

    now = int(time.time() * 1000)
    gems = [store.pay("notified", "gems.100")["transactionID"] for _ in range(45)]
    def history(token=None, **fields):
        request = {"startDate": now - DAY, "endDate": now + DAY, **fields}
        return client.get_notification_history(token, NotificationHistoryRequest(**request))
    pages, page_token = [], None
    while True:
        page = history(page_token, transactionId=gems[0])
        pages.append(page.notificationHistory)
        if not page.hasMore:
            break
        page_token = page.paginationToken
    checks.equal([len(items) for items in pages], [20, 20, 5], "the pages of the notifications")
    about = [payload(payload(item.signedPayload)["data"]["signedTransactionInfo"])["transactionId"]
             for items in pages for item in items]
    checks.equal(about, gems, "the notifications of a customer")
    tests = history(notificationType=NotificationTypeV2.TEST).notificationHistory
    checks.equal(len(tests), 1, "the notifications of a type")
    bought = history(notificationType=NotificationTypeV2.SUBSCRIBED, notificationSubtype=Subtype.INITIAL_BUY)
    checks.that(len(bought.notificationHistory) > 0, "the notifications of a subtype")
    checks.that(all(not item.sendAttempts or item.sendAttempts[-1].sendAttemptResult != SendAttemptResult.SUCCESS
                    for item in history(onlyFailures=True).notificationHistory), "only failures")
    for fields, token, error in [
        ({"startDate": None}, None, APIError.INVALID_START_DATE),
        ({"endDate": None}, None, APIError.INVALID_END_DATE),
        ({"startDate": now, "endDate": now}, None, APIError.START_DATE_AFTER_END_DATE),
        ({"startDate": now - 181 * DAY}, None, APIError.START_DATE_TOO_FAR_IN_PAST),
        ({"notificationSubtype": Subtype.UPGRADE}, None, APIError.INVALID_NOTIFICATION_TYPE),
        ({"notificationType": NotificationTypeV2.TEST, "transactionId": gems[0]}, None,
         APIError.MULTIPLE_FILTERS_SUPPLIED),
        ({"transactionId": "404"}, None, APIError.TRANSACTION_ID_NOT_FOUND),
        ({}, "x", APIError.INVALID_PAGINATION_TOKEN),
    ]:
        checks.refused(lambda: history(token, **fields), error, error.name)


def check_limits(checks, store):
    client = store.client()
    any_id = store.pay("limits", "gems.100")["transactionID"]
    store.call("/admin/api-limit", {"requests": 2}, "PUT")
    try:
        for _ in range(2):
            client.get_transaction_info(any_id)
        checks.refused(lambda: client.get_transaction_info(any_id), APIError.RATE_LIMIT_EXCEEDED, "the third request")
        response = requests.get(f"{store.base}/inApps/v1/transactions/{any_id}", headers=client._get_headers(), timeout=30)
        wait = int(response.headers["Retry-After"]) - time.time() * 1000
        checks.that(0 < wait <= 3_600_000, f"Retry-After is a moment within the hour: {wait} ms from now")
        client.get_all_subscription_statuses(any_id)
        checks.passed += 1
    finally:
        store.call("/admin/api-limit", None, "DELETE")
    client.get_transaction_info(any_id)
    checks.passed += 1


def check_verify_receipt(checks, store):
    def post(path, body):
        return requests.post(store.base + path, json=body, timeout=30).json()["status"]
    for status in [21002, 21005, 21009, 21010, 21100, 21199]:
        store.call("/store/verify-receipt-answers", {"answers": [{"status": status, "isRetryable": True}]}, "PUT")
        response = requests.post(store.base + "/verifyReceipt", json={"receipt-data": "AAAA"}, timeout=30)
        checks.equal(response.json(), {"status": status, "is_retryable": True}, f"verifyReceipt on demand: {status}")
    store.pay("receipts", "basic.monthly")
    receipt = requests.get(store.base + "/store/receipt?storeAccount=receipts", timeout=30).json()["receipt"]
    checks.equal(post("/verifyReceipt", {"receipt-data": receipt}), 0, "a receipt")
    checks.equal(post("/sandbox/verifyReceipt", {"receipt-data": receipt}), 21008, "a receipt at the sandbox's URL")
    checks.equal(post("/verifyReceipt", {"receipt-data": "no receipt"}), 21002, "no receipt")


def check_sandbox(checks, store):
    """A server that was started with --environment sandbox --shared-secret secret."""
    client = store.client(Environment.SANDBOX)
    payment = store.pay("sandbox", "basic.monthly")
    info = payload(client.get_transaction_info(payment["transactionID"]).signedTransactionInfo)
    checks.equal(info["environment"], "Sandbox", "the environment of a transaction")
    history = client.get_transaction_history(payment["transactionID"], None, TransactionHistoryRequest(), V2)
    checks.equal((history.environment, history.appAppleId), (Environment.SANDBOX, None), "the sandbox has no app number")
    checks.equal(client.look_up_order_id(payment["orderID"]).status, OrderLookupStatus.INVALID, "nor orders")
    receipt = requests.get(store.base + "/store/receipt?storeAccount=sandbox", timeout=30).json()["receipt"]
    def post(path, **more):
        return requests.post(store.base + path, json={"receipt-data": receipt, **more}, timeout=30).json()["status"]
    checks.equal(post("/verifyReceipt", password="secret"), 21007, "a sandbox receipt at production's URL")
    checks.equal(post("/sandbox/verifyReceipt", password="secret"), 0, "the shared secret")
    checks.equal(post("/sandbox/verifyReceipt"), 21004, "a subscription without the shared secret")
    checks.equal(post("/sandbox/verifyReceipt", password="wrong"), 21004, "a wrong shared secret")


ALL = [
    ("takes a valid token only", check_tokens),
    ("tells histories by pages and filters", check_history),
    ("tells refunds, orders and app transactions", check_refunds_and_orders),
    ("tells and extends subscriptions", check_subscriptions),
    ("finishes, sets tokens and takes consumption", check_changes),
    ("tells notifications, and sends a test", check_notifications),
    ("limits the requests of an hour", check_limits),
    ("verifyReceipt answers each status", check_verify_receipt),
]
SANDBOX = ["--environment", "sandbox", "--shared-secret", "secret"]


def serve(program, *options):
    process = subprocess.Popen(
        [program, "serve", "--port", "0", "--json", *options], stdout=subprocess.PIPE, text=True)
    text = ""
    while True:
        text += process.stdout.readline()
        try:
            return process, Store(json.loads(text)["page"])
        except json.JSONDecodeError:
            if process.poll() is not None:
                raise SystemExit(f"{program} serve ended: {text}")


def main():
    checks, processes = Checks(), []
    program = os.environ.get("PURCHASE_SIMULATOR")
    base = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("PURCHASE_SYNC_URL")
    try:
        if base:
            store = Store(base)
        elif program:
            process, store = serve(program)
            processes.append(process)
        else:
            raise SystemExit(__doc__)
        for _, function in ALL:
            function(checks, store)
        if program:
            process, sandbox = serve(program, *SANDBOX)
            processes.append(process)
            check_sandbox(checks, sandbox)
    finally:
        for process in processes:
            process.terminate()
    print(f"client: {checks.passed} passed, {checks.failed} failed")
    return 1 if checks.failed else 0


def register():
    """As a part of Tests/Apple/run: each function is a check of `kit`, with that server."""
    from kit import Failure, check

    def add(name, function, options=None):
        @check(name)
        def run(mock):
            checks = Checks()
            if options is None:
                function(checks, Store(mock.base))
            else:
                process, store = serve(mock.process.args[0], *options)
                try:
                    function(checks, store)
                finally:
                    process.terminate()
                    process.wait()
            if checks.failed:
                raise Failure(f"{checks.failed} of {checks.failed + checks.passed} failed, see above")
            return f"{checks.passed} answers"

    for name, function in ALL:
        add(name, function)
    add("a sandbox has its own URL, its secret and no order numbers", check_sandbox, SANDBOX)


if __name__ == "__main__":
    sys.exit(main())
elif "kit" in sys.modules:
    register()
