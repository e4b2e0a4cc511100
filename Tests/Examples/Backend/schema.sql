-- The tables of the backend. Times are milliseconds since 1970, as on the wire.

CREATE FUNCTION clock_now() RETURNS bigint LANGUAGE sql STABLE
  AS $$ SELECT (extract(epoch FROM now()) * 1000)::bigint $$;

-- One row. A database that is restored from a backup gets a new epoch.
CREATE TABLE ledger (
  epoch uuid NOT NULL DEFAULT gen_random_uuid(),
  job_ran_at bigint NOT NULL DEFAULT 0,
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only));
INSERT INTO ledger DEFAULT VALUES;

CREATE TABLE products (id text PRIMARY KEY);

-- The first secret that comes with a device's name.
CREATE TABLE devices (device uuid PRIMARY KEY, secret_hash text NOT NULL);
CREATE TABLE adoptions (
  device uuid NOT NULL REFERENCES devices, account text NOT NULL, at bigint NOT NULL DEFAULT clock_now());

-- MARK: begin schema
CREATE TABLE orders (
  number text PRIMARY KEY DEFAULT 'order-' || gen_random_uuid(),
  place bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  account text NOT NULL,
  idempotency_key text NOT NULL,
  token uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  product text NOT NULL REFERENCES products,
  quantity bigint NOT NULL CHECK (quantity > 0),
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'deferred', 'cancelled')),
  created_at bigint NOT NULL DEFAULT clock_now(),
  UNIQUE (account, idempotency_key));

-- What is locked: what a customer paid at once for a bundle, or a subscription, or else a purchase.
CREATE TABLE payments (environment text, payment text, PRIMARY KEY (environment, payment));

-- What the store says of a transaction, in its newest statement.
CREATE TABLE transactions (
  environment text, id text,        -- of a restored purchase the original id: it was paid once
  payment text NOT NULL, in_bundle boolean NOT NULL,
  chain text NOT NULL,              -- its subscription: the id of the first transaction
  product text NOT NULL,
  sold text NOT NULL,               -- the product that was paid: the bundle, or the product
  quantity bigint NOT NULL CHECK (quantity > 0),
  ownership text NOT NULL,
  token uuid,                       -- none if another person has paid
  reason text NOT NULL, is_consumable boolean NOT NULL,
  purchased_at bigint NOT NULL, expires_at bigint, ends_at bigint,
  is_replaced boolean NOT NULL,     -- by another plan, or by a bundle
  share bigint CHECK (share BETWEEN 0 AND 100000), -- of the price that was refunded; NULL: nothing was
  revoked_seats bigint NOT NULL,
  signed_at bigint NOT NULL,
  units bigint GENERATED ALWAYS AS (CASE
    WHEN share IS NULL THEN greatest(quantity - revoked_seats, 0)
    WHEN expires_at IS NOT NULL THEN 0
    ELSE quantity - least(share + 1, 100000) * quantity / 100000 END) STORED,
  PRIMARY KEY (environment, id),
  FOREIGN KEY (environment, payment) REFERENCES payments);

-- One row for each transaction, for good. It belongs to an account or to a device, and fulfils one order at most.
CREATE TABLE credits (
  environment text, id text,
  account text, device uuid REFERENCES devices,
  order_number text UNIQUE REFERENCES orders,
  is_guess boolean NOT NULL,        -- the order was only proposed
  PRIMARY KEY (environment, id),
  FOREIGN KEY (environment, id) REFERENCES transactions,
  CHECK (num_nonnulls(account, device) = 1));
-- MARK: end schema
CREATE INDEX ON transactions (environment, payment);
CREATE INDEX ON transactions (environment, chain);
CREATE INDEX ON credits (account);
CREATE INDEX ON credits (device);

-- What the store says of a subscription's next period.
CREATE TABLE renewals (
  environment text, chain text, grace_until bigint, will_renew boolean NOT NULL, signed_at bigint NOT NULL,
  PRIMARY KEY (environment, chain));

-- How often the store said 21002 in a row.
CREATE TABLE doubts (sender text, id text, times int NOT NULL, PRIMARY KEY (sender, id));

-- Whether an order is for what a transaction has paid. Of a subscription with seats any number pays it.
CREATE FUNCTION agrees(o orders, t transactions) RETURNS boolean LANGUAGE sql STABLE
  AS $$ SELECT o.product = t.sold AND (o.quantity = t.quantity OR t.expires_at IS NOT NULL) $$;

CREATE FUNCTION is_free(o orders) RETURNS boolean LANGUAGE sql STABLE
  AS $$ SELECT NOT EXISTS (SELECT FROM credits c WHERE c.order_number = o.number) $$;

CREATE VIEW order_documents AS
  SELECT o.*, s.now AS state_now, json_build_object(
           'number', number, 'accountToken', token, 'productID', product, 'quantity', quantity, 'state', s.now,
           'createdAt', created_at) AS document
    FROM orders o, LATERAL (SELECT CASE WHEN is_free(o) THEN state ELSE 'delivered' END AS now) s;

-- The end of a period: the store's, a refund's, or for the last one that of the grace after a failed charge.
CREATE VIEW periods AS
  SELECT t.*, greatest(t.ends_at, CASE WHEN t.share IS NULL AND NOT t.is_replaced AND NOT EXISTS (
           SELECT FROM transactions l
            WHERE (l.environment, l.chain) = (t.environment, t.chain) AND l.expires_at > t.expires_at)
         THEN r.grace_until END) AS until
    FROM transactions t LEFT JOIN renewals r USING (environment, chain)
   WHERE t.expires_at IS NOT NULL;

CREATE VIEW entitlements AS
  SELECT account, product, environment, NULL::bigint AS expires_at, sum(units) AS quantity
    FROM credits JOIN transactions USING (environment, id)
   WHERE expires_at IS NULL AND units > 0
   GROUP BY account, product, environment
  UNION ALL
  (SELECT DISTINCT ON (account, environment, chain)
          account, product, environment, until, greatest(sum(units), 1)
     FROM credits JOIN periods USING (environment, id)
    WHERE until > clock_now() AND NOT is_replaced
    GROUP BY account, environment, chain, product, until
    ORDER BY account, environment, chain, max(purchased_at) DESC);

CREATE VIEW entitlement_documents AS
  SELECT *, json_strip_nulls(json_build_object(
           'productID', product, 'quantity', quantity, 'expiresAt', expires_at, 'environment', environment,
           'sandbox', environment <> 'Production')) AS document
    FROM entitlements;
