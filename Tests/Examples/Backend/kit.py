"""PostgreSQL, the mock store and two processes of the backend, for `run`: kit.py SIMULATOR FOLDER [OPTION…]."""

import contextlib
import json
import os
import pathlib
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request

import psycopg2

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PROCESSES = 2


class Postgres:
    """A server in a folder of its own, reached by a socket there."""

    def __init__(self, folder):
        self.programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        # PostgreSQL refuses to run as root.
        self.user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        self.home = folder / "postgres"
        self.home.mkdir()
        if self.user:
            folder.chmod(0o711)
            shutil.chown(self.home, "postgres", "postgres")
        self.call("initdb", "--auth=trust", "--username=shop")
        self.call("pg_ctl", "-l", self.home / "log", "-o", f"-k {self.home} -c listen_addresses=", "start")

    def call(self, program, *arguments):
        subprocess.run(
            [self.programs / program, "-D", self.home / "data", *arguments], check=True, cwd=self.home,
            stdout=subprocess.DEVNULL, **self.user)

    def address(self, name):
        return f"host={self.home} user=shop dbname={name}"

    def execute(self, name, *statements):
        connection = psycopg2.connect(self.address(name))
        connection.autocommit = True
        with contextlib.closing(connection), connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    @contextlib.contextmanager
    def database(self, name, source, products):
        """How to connect to a new database with the tables of a folder."""
        self.execute("postgres", f"CREATE DATABASE {name}")
        try:
            rows = ", ".join(f"('{product}')" for product in products)
            self.execute(name, (source / "schema.sql").read_text(), f"INSERT INTO products VALUES {rows}")
            yield self.address(name)
        finally:
            self.execute("postgres", f"DROP DATABASE {name} WITH (FORCE)")

    def stop(self):
        self.call("pg_ctl", "-m", "immediate", "stop")


class Store:
    """A running `purchase-simulator serve`."""

    def __init__(self, simulator, folder, environment):
        self.process = subprocess.Popen(
            [simulator, "serve", "--port", "0", "--json", "--environment", environment,
             "--database", folder / f"{environment}.sqlite"], stdout=subprocess.PIPE, text=True)
        self.base = json.loads(self.process.stdout.readline())["base"]
        self.key = folder / "api-key.json"
        self.key.write_text(json.dumps(call("GET", self.base + "/store/api-key")))
        self.products = [product["id"] for product in call("GET", self.base + "/store/products")["products"]]

    def stop(self):
        self.process.kill()
        self.process.wait()


def call(method, url, body=None, **headers):
    """The JSON of an answer."""
    fields = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, fields, method=method)) as reply:
        return json.loads(reply.read())


class Site:
    """The processes of a backend whose code is in `source`, behind one port and one database."""

    def __init__(self, folder, source, store, address):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.base, self.store, self.file = f"http://127.0.0.1:{port}", store, folder / "site.json"
        self.settings = {
            "DATABASE": address, "STORE": store.base, "STORE_KEY": str(store.key),
            "STORE_ROOT": str(ROOT / "Tests/Apple/Certificates/root.cer"),
            "CONTRACT": str(ROOT / "Sources/PurchaseSyncTesting/OpenAPI/openapi.json")}
        start({"settings": self.settings, "program": [str(source / "backend.py"), str(port)]}, self.file)

    def conformance(self, simulator, options, **more):
        restart = shlex.join([sys.executable, __file__, "restart", str(self.file)])
        return subprocess.run(
            [simulator, "conformance", "--backend", self.base, "--store", self.store.base + "/store",
             "--restart", restart, *options], check=False, **more)

    def stop(self):
        stop(self.file)


def start(state, file):
    """Starts the processes, and returns when all of them listen."""
    starting = [
        subprocess.Popen(
            [sys.executable, "-B", *state["program"]], env={**os.environ, **state["settings"]}, stdout=subprocess.PIPE,
            start_new_session=True)
        for _ in range(PROCESSES)]
    file.write_text(json.dumps({**state, "processes": [process.pid for process in starting]}))
    if not all(process.stdout.readline() for process in starting):
        stop(file)
        raise SystemExit("the backend did not start")


def stop(file):
    """Kills the processes, and returns what they were when they have ended."""
    state = json.loads(file.read_text())
    for number in state["processes"]:
        with contextlib.suppress(ProcessLookupError):
            process = os.pidfd_open(number)
            os.kill(number, signal.SIGKILL)
            select.select([process], [], [])
            os.close(process)
    return state


@contextlib.contextmanager
def running(service):
    try:
        yield service
    finally:
        service.stop()


@contextlib.contextmanager
def backend(folder, source, postgres, store, name):
    with postgres.database(name, source, store.products) as address:
        with running(Site(folder, source, store, address)) as site:
            yield site


def check_job(site):
    """A renewal of which no notification came: the job learns of it, once in its turn."""
    alice, half_a_day = {"Authorization": "Bearer token-alice"}, 43_200_000
    order = call(
        "POST", site.base + "/v1/orders", {"productID": "basic.monthly", "quantity": 1}, Idempotency_Key="job", **alice)
    call("POST", site.store.base + "/admin/clock", {"milliseconds": half_a_day - 30 * 86_400_000})
    paid = call("POST", site.store.base + "/store/payments", {
        "productID": "basic.monthly", "storeAccount": "apple-of-the-job", "accountToken": order["accountToken"]})
    call("POST", site.store.base + "/admin/clock", {"milliseconds": 30 * 86_400_000 - half_a_day})
    claim = {
        "transactionID": paid["transactionID"], "environment": "Production", "productID": "basic.monthly",
        "quantity": 1, "purchasedAt": 0, "match": "none", "proof": 0}
    proof = {"kind": "signedTransaction", "data": paid["signedTransaction"]}
    device = "00000000-0000-4000-8000-000000000000"
    call("POST", site.base + "/v1/receipts", {"device": device, "claims": [claim], "proofs": [proof]}, **alice)

    def ends():
        held = call("GET", site.base + "/v1/entitlements", **alice)["entitlements"]
        return sum(item.get("expiresAt", 0) for item in held if item["productID"] == "basic.monthly")

    before = ends()
    call("POST", site.store.base + "/store/renewals", {"transactionID": paid["transactionID"]})
    said = [
        subprocess.run(
            [sys.executable, HERE / "job.py"], env={**os.environ, **site.settings}, check=True, capture_output=True,
            text=True).stdout.strip() for _ in range(2)]
    is_right = before < ends() and said[0].endswith(", 0)") and said[1] == "None"
    print(f"The job: {'a renewal without a notification is credited' if is_right else f'FAILED: {said}'}")
    return is_right


def main(simulator, folder, options):
    if options[:1] == ["mutants"]:
        import mutants
        return mutants.main(simulator, folder, options[1:])
    is_right = True
    with running(Postgres(folder)) as postgres:
        # A complete run is one with a store of each environment.
        for environment in ("production",) if options else ("production", "sandbox"):
            with running(Store(simulator, folder, environment)) as store, \
                    backend(folder, HERE, postgres, store, environment) as site:
                is_right &= site.conformance(simulator, options).returncode == 0
                is_right &= bool(options) or environment == "sandbox" or check_job(site)
    return not is_right


if __name__ == "__main__":
    if sys.argv[1] == "restart":
        # The command for `conformance --restart`.
        start(stop(pathlib.Path(sys.argv[2])), pathlib.Path(sys.argv[2]))
    else:
        sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]))
