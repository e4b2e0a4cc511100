"""One-line mistakes in the backend, and the check that finds each. What its check does not find gets all checks."""

import shutil
import subprocess
import time

import kit

# File, what one line has, what it has in its place, and the check.
MUTANTS = [
    # Orders
    ("statements.sql", "ON CONFLICT (account, idempotency_key) DO NOTHING;", ";", "order-idempotent"),
    ("orders.py", 'owner, key = account(request), request.header("Idempotency-Key")',
     'owner, key = account(request), "key"', "order-unique"),
    ("orders.py", "if not key or len(key) > 255:", "if key and len(key) > 255:", "order-key-needed"),
    ("orders.py", '!= (wish["product"], wish["quantity"]):', '!= (order.product, order.quantity):', "order-key-reused"),
    ("orders.py", "return 201 if is_new else 200, order.document", "return 200, order.document", "order-made"),
    ("orders.py", "return 201 if is_new else 200, document", "return 201, document", "order-registered"),
    ("orders.py", "for order in rows[:limit]]}", "for order in rows]}", "order-pages"),
    ("orders.py", '{"next": rows[limit - 1].number}', '{"next": rows[0].number}', "order-pages"),
    ("orders.py", "if order.account != owner:", "if False:", "order-private"),
    ("orders.py", 'raise Problem(404, "not-found", "there is no such order")',
     'raise invalid("no such order")', "order-unknown"),
    ("orders.py", '"cancel": "cancelled"', '"cancel": "deferred"', "order-ended"),
    ("orders.py", "if known is None or (known", "if False and (known", "order-registered"),
    ("schema.sql", "UNIQUE (account, idempotency_key));",
     "UNIQUE (idempotency_key), UNIQUE (account, idempotency_key));", "order-key-per-account"),
    ("schema.sql", "product text NOT NULL REFERENCES products,", "product text NOT NULL,", "order-product"),
    ("schema.sql", "token uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),",
     "token uuid NOT NULL DEFAULT md5('')::uuid,", "order-unique"),
    ("schema.sql", "CASE WHEN is_free(o) THEN state ELSE 'delivered' END", "state", "upload-granted"),
    ("statements.sql", "WHERE account = :account AND (:state IS NULL", "WHERE (:state IS NULL", "order-not-listed"),
    ("statements.sql", "(:state IS NULL OR state_now = :state)",
     "(:state IS NULL OR state_now <> :state)", "order-listed"),
    ("statements.sql", "ORDER BY place LIMIT :limit;", "ORDER BY place DESC LIMIT :limit;", "order-pages"),
    ("statements.sql", "('open', 'deferred'), ('open', 'cancelled'), ('deferred', 'cancelled')",
     "('open', 'cancelled'), ('deferred', 'cancelled')", "order-ended"),
    ("statements.sql", "WHERE number = :number AND is_free(o)", "WHERE is_free(o)", "order-ended"),
    # Credits
    ("database.py", "with connection, connection.cursor() as cursor:",
     "with connection.cursor() as cursor:", "restart-grant"),
    ("schema.sql", "least(share + 1, 100000) * quantity / 100000", "quantity", "refund-part"),
    ("schema.sql", "least(share + 1, 100000)", "share", "refund-part"),
    ("schema.sql", "WHEN share IS NULL THEN greatest(quantity - revoked_seats, 0)",
     "WHEN share IS NULL THEN quantity", "seats-refunded"),
    ("schema.sql", "sum(units) AS quantity", "count(units) AS quantity", "upload-quantity"),
    ("schema.sql", "WHERE expires_at IS NULL AND units > 0",
     "WHERE expires_at IS NULL AND units > 1", "upload-granted"),
    ("schema.sql", "WHERE until > clock_now() AND NOT is_replaced",
     "WHERE true AND NOT is_replaced", "subscription-refunded"),
    ("schema.sql", "account, product, environment, until, greatest(sum(units), 1)",
     "account, product, environment, until, 1", "seats-added"),
    ("schema.sql", "(SELECT DISTINCT ON (account, environment, chain)", "(SELECT", "subscription-renewal-once"),
    ("schema.sql", "max(purchased_at) DESC);", "max(purchased_at));", "subscription-renewed"),
    ("schema.sql", "SELECT o.product = t.sold AND", "SELECT o.product = t.product AND", "bundle-order"),
    ("schema.sql", "(o.quantity = t.quantity OR t.expires_at IS NOT NULL)", "o.quantity = t.quantity", "seats-added"),
    ("schema.sql", "'expiresAt', expires_at,", "", "subscription-granted"),
    ("statements.sql", "SELECT document FROM entitlement_documents WHERE account = :account",
     "SELECT document FROM entitlement_documents WHERE :account <> ''", "entitlements-private"),
    ("statements.sql", "<= (excluded.signed_at, excluded.share IS NOT NULL);", "< (0, false);", "refund-uploaded"),
    ("statements.sql", "WHERE (known.signed_at, known.share IS NOT NULL) <=",
     "WHERE (0, false) <=", "refund-not-again"),
    ("statements.sql", "coalesce(greatest(t.expires_at, p.until) <= clock_now(), false) AS is_over",
     "false AS is_over", "subscription-lapsed"),
    ("statements.sql", "THEN coalesce(excluded.order_number, c.order_number) ELSE",
     "THEN excluded.order_number ELSE", "refund-part-first"),
    # The owner
    ("statements.sql", "    FROM t JOIN orders o USING (token)",
     "    FROM t JOIN orders o USING (token) WHERE false", "token-alone"),
    ("statements.sql", "SELECT 1 AS rank, 0 AS place, o.account",
     "SELECT 13 AS rank, 0 AS place, o.account", "token-alone"),
    ("statements.sql", "CASE WHEN agrees(o, t) AND is_free(o) AND (t.id",
     "CASE WHEN agrees(o, t) AND (t.id", "paid-twice"),
    ("statements.sql", "AND is_free(o) AND (t.id = t.chain OR t.reason = 'PURCHASE')",
     "AND is_free(o) AND t.id = t.chain", "seats-added"),
    ("statements.sql", "SELECT 4, 0, o.account, NULL, false,", "SELECT 4, 0, o.account, NULL, true,", "id-alone"),
    ("statements.sql", "SELECT 5, 0, account, NULL, true, NULL FROM others",
     "SELECT 5, 0, account, NULL, true, NULL FROM others WHERE false AND", "bundle-without-token"),
    ("statements.sql", "SELECT 6, 0, p.account, p.device, true, p.order_number FROM present p, t",
     "SELECT 60, 0, p.account, p.device, true, p.order_number FROM present p, t", "credited-once"),
    ("statements.sql", "SELECT 9, CASE WHEN p.purchased_at",
     "SELECT 13, CASE WHEN p.purchased_at", "subscription-renewal-owner"),
    ("statements.sql", "SELECT 11, 0, :account, :device, EXISTS (SELECT FROM present WHERE device = :device),",
     "SELECT 11, 0, :account, :device, true,", "id-alone"),
    ("statements.sql", " WHERE recorded OR :is_proven", " WHERE recorded AND :is_proven", "credited-once"),
    ("statements.sql", "UPDATE credits SET account = :account, device = NULL WHERE device = :device;",
     "UPDATE credits SET account = :account, device = NULL WHERE device IS NOT NULL;", "device-own"),
    ("statements.sql", "UPDATE credits SET account = :account, device = NULL WHERE device = :device;",
     "SELECT;", "device-adopted"),
    ("rules.py", "settle(session, other._asdict(), Named(), Sender(), is_proven=False)",
     "pass", "bundle-without-token"),
    ("rules.py", 'return "yours" if owner.account in (self.account, self.signed_in) else "another"',
     'return "yours" if owner.account == self.account else "another"', "owner-on-device"),
    ("rules.py", 'return "yours" if owner.account in (self.account, self.signed_in) else "another"',
     'return "yours"', "owner-unnamed"),
    ("rules.py", 'return "device" if owner.device == self.device else "another"',
     'return "another"', "owner-without-token"),
    ("rules.py", 'word = "granted" if not before.is_credited or is_moved and owner.account else "duplicate"',
     'word = "granted"', "upload-again"),
    ("rules.py", 'word = word if before.share is None else "refunded"', "pass", "refund-part"),
    ("rules.py", "elif before.is_over and not before.is_credited:", "elif False:", "subscription-lapsed"),
    ("rules.py", "is_known = sender.device and number and", "is_known = number and number or", "owner-unnamed"),
    ("rules.py", 'verdict["verdict"] = "otherOwner"', "pass", "other-owner"),
    # What the store says
    ("proofs.py", '"id": payload["transactionId"] if expires else original,', '"id": original,', "seats-added"),
    ("proofs.py", '"sold": payload.get("bundleProductId") or payload["productId"],',
     '"sold": payload["productId"],', "bundle-order"),
    ("proofs.py", '"quantity": 1 if ownership == "ASSIGNED" else payload.get("quantity", 1),',
     '"quantity": payload.get("quantity", 1),', "seat-of-member"),
    ("proofs.py", '"quantity": 1 if ownership == "ASSIGNED" else payload.get("quantity", 1),',
     '"quantity": 1,', "upload-quantity"),
    ("proofs.py", 'token(payload.get("appAccountToken")) if ownership == "PURCHASED" else None',
     'token(payload.get("appAccountToken"))', "seat-with-token"),
    ("proofs.py", '"share": share if took else None,', '"share": share if revoked else None,', "bundle-replaces"),
    ("proofs.py", '(payload.get("multiSeatInfo") or {}).get("revokedSeatQuantity") or 0', "0", "seats-refund-notified"),
    ("proofs.py", "for online, verifier in self.verifiers:",
     "for online, verifier in [(True, self.verifiers[2][1])]:", "proof-chain-revoked"),
    ("proofs.py", 'raise Aged()', 'raise rejected("old")', "proof-chain-ended"),
    ("proofs.py", 'raise rejected("forged: the store did not sign this proof for this app") from refusal',
     "return peek(text)", "proof-tampered"),
    ("proofs.py", "and self.names_app(text):", "and False:", "seats-unclaimed"),
    ("proofs.py", 'raise Doubtful("pending")', 'return {"1"}', "proof-malformed"),
    ("proofs.py", 'return Ruling("pending", retryAfter=30)', 'return rejected("silent")', "claim-store-silent"),
    ("uploads.py", "if payload[\"transactionId\"] != identifier:", "if False:", "claim-transaction"),
    ("uploads.py", "if identifier not in self.receipts[proof[\"data\"]]:", "if False:", "claim-transaction"),
    ("uploads.py", 'proof = self.proofs[claim["proof"]]', "proof = self.proofs[0]", "proof-per-claim"),
    ("uploads.py", 'claim["proof"] >= len(questions.proofs):', "claim['proof'] > 99:", "no-such-proof"),
    ("uploads.py", '"environment": claim["environment"], "transactionID"',
     '"environment": "Production", "transactionID"', "claim-environment"),
    ("uploads.py", "return facts(payload), True", "return facts(payload), False", "credited-once"),
    ("uploads.py", ".times >= 4", ".times >= 400", "proof-malformed"),
    ("uploads.py", 'row("epoch").epoch', "str(id(body))", "ledger-epoch"),
    ("uploads.py", "if kind == \"device\" and name != token(",
     "if kind == \"device\" and None is token(", "device-mismatch"),
    # Notifications, people, HTTP
    ("notifications.py", "        judge(session, told)\n\n    perform",
     "        pass\n\n    perform", "refund-notified"),
    ("notifications.py", "return 202, {}", 'raise invalid("no transaction")', "consent-rescinded"),
    ("notifications.py", 'return invalid("the store did not sign it for this app")',
     'return Problem(500, "x", "x")', "notification-malformed"),
    ("people.py", 'if credential.startswith("token-") else None', "", "auth-wrong"),
    ("people.py", "if perform(work) != secret_hash:", "if False:", "device-secret"),
    ("people.py", 'raise Problem(403, "account",', 'raise Problem(401, "account",', "signed-in-refused"),
    ("people.py", "        return account(request, \"Account-Authorization\")",
     "        return None", "signed-in-refused"),
    ("backend.py", 'if kind != "device" or device != token(body["device"]):',
     'if kind != "device":', "adoption-credentials"),
    ("backend.py", "    admit(device, *secret)", "    pass", "adoption-credentials"),
    ("backend.py", 'return 200, {"device": body["device"]}', "return 200, {}", "device-adopted"),
    ("server.py", 'raise Problem(405, "method", "wrong method", Allow=", ".join(found))',
     "return 200, {}", "unknown-path"),
    ("server.py", "if self.headers.get(\"Purchase-Sync-Protocol\", VERSION) != VERSION:",
     "if False:", "protocol-version"),
    ("server.py", "LARGEST_BODY = 16 << 20", "LARGEST_BODY = 1 << 20", "large"),
    ("server.py", 'if self.unread > LARGEST_BODY or', "if False and", "too-large"),
    ("server.py", '"application/problem+json"', '"text/plain"', "auth-missing"),
    ("contract.py", "raise malformed(", "print(", "upload-malformed"),
]


def judge(mutant, number, simulator, folder, postgres, store):
    """The checks that fail with this mutant in the backend."""
    file, old, new, check = mutant
    source = folder / f"mutant-{number}"
    shutil.copytree(kit.HERE, source)
    text = (source / file).read_text()
    if text.count(old) != 1:
        raise SystemExit(f"{file} has {text.count(old)} times, and not once: {old}")
    (source / file).write_text(text.replace(old, new))
    with kit.backend(source, source, postgres, store, f"mutant_{number}") as site:
        for options in (["--only", check], []):
            run = site.conformance(simulator, options, stdout=subprocess.PIPE, text=True)
            failed = [line.split()[1] for line in run.stdout.splitlines() if line.lstrip().startswith("FAIL")]
            if failed:
                return failed
    return []


def main(simulator, folder, texts):
    chosen = [mutant for mutant in MUTANTS if all(text in "\t".join(mutant) for text in texts)]
    found = 0
    with kit.running(kit.Postgres(folder)) as postgres, \
            kit.running(kit.Store(simulator, folder, "production")) as store:
        for number, mutant in enumerate(chosen):
            start = time.monotonic()
            failed = judge(mutant, number, simulator, folder, postgres, store)
            found += bool(failed)
            seconds = time.monotonic() - start
            print(f"{'found   ' if failed else 'SURVIVED'} {seconds:4.1f} s  {', '.join(failed[:3]):<30} "
                  f"{mutant[0]}: {mutant[1]} → {mutant[2] or 'nothing'}", flush=True)
    print(f"{found} of {len(chosen)} mutants found")
    return 0 if found == len(chosen) > 0 else 1
