-- The statements, each under its name. `:name` is a parameter.

-- name: lock
-- Until the commit, one process at a time decides about a payment.
INSERT INTO payments VALUES (:environment, :payment)
ON CONFLICT (environment, payment) DO UPDATE SET payment = excluded.payment;

-- name: learn
-- The newest statement counts, in whatever order they come. Of two in one millisecond, the one with a refund does.
INSERT INTO transactions AS known
       (environment, id, payment, in_bundle, chain, product, sold, quantity, ownership, token, reason,
        is_consumable, purchased_at, expires_at, ends_at, is_replaced, share, revoked_seats, signed_at)
VALUES (:environment, :id, :payment, :in_bundle,
        -- A member's seat is apart, unless the first transaction under the original id is a seat, too. Where the store
        -- has given a subscription another first id, the one before names it.
        CASE WHEN :ownership = 'ASSIGNED' AND NOT EXISTS (
               SELECT FROM transactions
                WHERE environment = :environment AND id = :original AND ownership = 'ASSIGNED')
             THEN :id
             ELSE coalesce((SELECT chain FROM transactions WHERE environment = :environment AND id = :previous),
                           :original) END,
        :product, :sold, :quantity, :ownership, :token, :reason,
        :is_consumable, :purchased_at, :expires_at, :ends_at, :is_replaced, :share, :revoked_seats, :signed_at)
ON CONFLICT (environment, id) DO UPDATE
   SET (token, ends_at, expires_at, is_replaced, share, revoked_seats, signed_at)
     = (excluded.token, excluded.ends_at, excluded.expires_at, excluded.is_replaced, excluded.share,
        excluded.revoked_seats, excluded.signed_at)
 WHERE (known.signed_at, known.share IS NOT NULL) <= (excluded.signed_at, excluded.share IS NOT NULL);

-- name: state
SELECT t.environment, t.id, t.quantity, t.units, t.share, c.id IS NOT NULL AS is_credited, c.account, c.device,
       c.order_number, coalesce(greatest(t.expires_at, p.until) <= clock_now(), false) AS is_over
  FROM transactions t LEFT JOIN credits c USING (environment, id) LEFT JOIN periods p USING (environment, id)
 WHERE t.environment = :environment AND t.id = :id;

-- name: owner
-- The owner is the first of these that there is. What is `recorded` the store says itself: it needs no proof.
WITH t AS (SELECT * FROM transactions WHERE environment = :environment AND id = :id),
     present AS (SELECT c.* FROM credits c JOIN t USING (environment, id)),
     fresh AS (SELECT t.* FROM t WHERE NOT EXISTS (SELECT FROM present)),
     -- Of a renewal, and of what another person has paid, a claim says nothing.
     claimable AS (SELECT * FROM fresh WHERE id = chain AND ownership = 'PURCHASED'),
     others AS (
       SELECT c.account, c.order_number, o.account AS named
         FROM t JOIN transactions m USING (environment, payment)
         LEFT JOIN credits c ON (c.environment, c.id) = (m.environment, m.id)
         LEFT JOIN orders o ON o.token = m.token
        WHERE t.in_bundle AND m.in_bundle AND m.id <> t.id),
     -- A receipt has whole seconds, so an order may seem to be up to one younger than its payment.
     fits AS (
       SELECT o.account, o.number, c.nth
         FROM claimable t, unnest(:candidates::text[]) WITH ORDINALITY AS c (number, nth) JOIN orders o USING (number)
        WHERE agrees(o, t) AND is_free(o) AND o.state <> 'cancelled' AND (:account IS NULL OR o.account = :account)
          AND t.purchased_at >= o.created_at - o.created_at % 1000)
SELECT rank, account, device, order_number FROM (
  -- the account of the order that its token names; what a customer bought fulfils it, and a bundle fulfils one
  SELECT 1 AS rank, 0 AS place, o.account, NULL::uuid AS device, true AS recorded,
         CASE WHEN agrees(o, t) AND is_free(o) AND (t.id = t.chain OR t.reason = 'PURCHASE')
                AND NOT EXISTS (SELECT FROM others WHERE order_number IS NOT NULL AND others.account = o.account)
              THEN o.number END AS order_number
    FROM t JOIN orders o USING (token)
  UNION ALL  -- the account that another transaction of the same bundle names by its token
  SELECT 2, 0, named, NULL, true, NULL FROM others WHERE named IS NOT NULL
  UNION ALL  -- who has it with an order that was no guess
  SELECT 3, 0, account, device, true, order_number FROM present WHERE order_number IS NOT NULL AND NOT is_guess
  UNION ALL  -- the account of the order that the claim is bound to, and agrees with
  SELECT 4, 0, o.account, NULL, false, CASE WHEN is_free(o) THEN o.number END
    FROM claimable t JOIN orders o ON o.number = :bound AND agrees(o, t)
  UNION ALL  -- the account whose order another transaction of the same bundle fulfils
  SELECT 5, 0, account, NULL, true, NULL FROM others WHERE order_number IS NOT NULL
  UNION ALL  -- who has it, if that is an account, or if no other phone can restore it
  SELECT 6, 0, p.account, p.device, true, p.order_number FROM present p, t
   WHERE p.account IS NOT NULL OR t.is_consumable
  UNION ALL  -- the account of the first order that the claim proposes, if all that fit are of one account
  SELECT 7, nth, account, NULL, false, number FROM fits WHERE (SELECT count(DISTINCT account) FROM fits) = 1
  UNION ALL  -- the account that has another transaction of the same bundle
  SELECT 8, 0, account, NULL, true, NULL FROM others WHERE account IS NOT NULL
  UNION ALL  -- of a later period of a subscription, the owner of the nearest one before it, or else after it
  SELECT 9, CASE WHEN p.purchased_at <= t.purchased_at THEN t.purchased_at - p.purchased_at ELSE p.purchased_at END,
         c.account, c.device, true, NULL
    FROM fresh t JOIN transactions p USING (environment, chain)
    JOIN credits c ON (c.environment, c.id) = (p.environment, p.id) AND t.id <> t.chain
  UNION ALL  -- the account that has adopted the device since the payment
  SELECT 10, a.at, a.account, NULL, false, NULL
    FROM t JOIN adoptions a ON a.device = :device AND t.purchased_at < a.at
  UNION ALL  -- who sends it
  SELECT 11, 0, :account, :device, EXISTS (SELECT FROM present WHERE device = :device), NULL
   WHERE num_nonnulls(:account, :device) = 1
) AS candidates
 WHERE recorded OR :is_proven
 ORDER BY rank, place LIMIT 1;

-- name: credit
-- Credits it once, or moves the credit. An order stays with an owner that stays, and waits again if the credit moves.
INSERT INTO credits AS c (environment, id, account, device, order_number, is_guess)
VALUES (:environment, :id, :account, :device, :order_number, :rank = 7)
ON CONFLICT (environment, id) DO UPDATE
   SET (account, device, order_number, is_guess) = (
       excluded.account, excluded.device,
       CASE WHEN (c.account, c.device) IS NOT DISTINCT FROM (excluded.account, excluded.device)
            THEN coalesce(excluded.order_number, c.order_number) ELSE excluded.order_number END,
       c.is_guess AND excluded.order_number IS NULL OR excluded.is_guess)
RETURNING order_number;

-- name: related
-- What may belong to the same owner: the other transactions of a bundle, and periods that no account has yet.
SELECT m.environment, m.id
  FROM transactions t JOIN transactions m USING (environment)
 WHERE t.environment = :environment AND t.id = :id AND m.id <> t.id
   AND (m.payment = t.payment AND m.in_bundle AND t.in_bundle
        OR m.chain = t.chain AND NOT EXISTS (
             SELECT FROM credits c WHERE (c.environment, c.id) = (m.environment, m.id)))
 ORDER BY m.purchased_at;

-- name: learn_renewal
INSERT INTO renewals AS known VALUES (:environment, :chain, :grace_until, :will_renew, :signed_at)
ON CONFLICT (environment, chain) DO UPDATE
   SET (grace_until, will_renew, signed_at) = (excluded.grace_until, excluded.will_renew, excluded.signed_at)
 WHERE known.signed_at <= excluded.signed_at;

-- name: doubt
INSERT INTO doubts AS d VALUES (:sender, :id, 1)
ON CONFLICT (sender, id) DO UPDATE SET times = d.times + 1 RETURNING times;

-- name: no_doubt
DELETE FROM doubts WHERE sender = :sender AND id = :id;

-- name: bind_device
INSERT INTO devices VALUES (:device, :secret_hash) ON CONFLICT DO NOTHING;

-- name: device
SELECT secret_hash FROM devices WHERE device = :device FOR SHARE;

-- name: lock_device
SELECT FROM devices WHERE device = :device FOR UPDATE;

-- name: note_adoption
INSERT INTO adoptions VALUES (:device, :account);

-- name: adopt
UPDATE credits SET account = :account, device = NULL WHERE device = :device;

-- name: make_order
INSERT INTO orders (account, idempotency_key, product, quantity) VALUES (:account, :key, :product, :quantity)
ON CONFLICT (account, idempotency_key) DO NOTHING;

-- name: order_by_key
SELECT * FROM order_documents WHERE account = :account AND idempotency_key = :key;

-- name: register_order
-- A device's clock may be wrong: an order is never younger than its registration.
INSERT INTO orders (number, account, idempotency_key, token, product, quantity, created_at)
VALUES (:number, :account, :number, :accountToken, :productID, :quantity, least(greatest(:createdAt, 0), clock_now()))
ON CONFLICT DO NOTHING;

-- name: order
SELECT * FROM order_documents WHERE number = :number;

-- name: orders
SELECT * FROM order_documents
 WHERE account = :account AND (:state IS NULL OR state_now = :state)
   AND place > coalesce((SELECT place FROM orders WHERE number = :after), 0)
 ORDER BY place LIMIT :limit;

-- name: move_order
-- From open to deferred, and from both to cancelled. A paid order stays, and so does one for any other word.
UPDATE orders o SET state = :state
 WHERE number = :number AND is_free(o)
   AND (state, :state) IN (('open', 'deferred'), ('open', 'cancelled'), ('deferred', 'cancelled'));

-- name: entitlements
SELECT document FROM entitlement_documents WHERE account = :account ORDER BY product, environment, expires_at;

-- name: epoch
SELECT epoch FROM ledger;

-- name: turn
-- One of the processes gets the turn.
UPDATE ledger SET job_ran_at = clock_now() WHERE job_ran_at <= clock_now() - :pause RETURNING job_ran_at;

-- name: due
-- Subscriptions whose last known period ends within a day, or has ended within 60 days and may renew.
SELECT environment, chain
  FROM periods LEFT JOIN renewals USING (environment, chain)
 WHERE is_replaced = false
 GROUP BY environment, chain, will_renew
HAVING max(expires_at) BETWEEN clock_now() - 60 * 86400000::bigint AND clock_now() + 86400000
   AND (max(expires_at) > clock_now() OR coalesce(will_renew, true));
