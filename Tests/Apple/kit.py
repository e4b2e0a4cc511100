"""Runs the checks in all files *_checks.py of this folder against a mock store of their own.

A file of checks imports `check`, and writes functions that take a `Mock`:

    from kit import check, expect

    @check("accepts a signed transaction")
    def _(mock):
        expect(mock.get("/store/products")["products"], "no products")

A function may return a text, which is printed behind the name of the check: a figure, or how something was refused.
"""

import importlib
import json
import pathlib
import subprocess
import sys
import time
import urllib.error
import urllib.request

# A file of checks imports this module by its name, although it runs as the main program.
sys.modules.setdefault("kit", sys.modules[__name__])

CHECKS = []


class Failure(Exception):
    """What a check expected and did not find."""


def check(name):
    """Registers a function as a check. The name says what holds if it passes."""

    def register(function):
        CHECKS.append((name, function))
        return function

    return register


def expect(condition, text):
    """Fails the check with a text unless the condition holds."""
    if not condition:
        raise Failure(text)


class Mock:
    """A running `purchase-simulator serve` with a new database."""

    bundle_id = "com.example.app"

    def __init__(self, simulator, folder, *options):
        self.folder = pathlib.Path(folder)
        self.process = subprocess.Popen(
            [simulator, "serve", "--port", "0", "--json", *options], stdout=subprocess.PIPE, text=True)
        self.addresses = json.loads(self.process.stdout.readline())
        self.base = self.addresses["page"].rstrip("/")

    def stop(self):
        """Ends it as a person does, and fails if it does not end."""
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure("serve did not end within 60 s of SIGTERM") from None

    def send(self, method, path, body=None, headers=None):
        """The status and the bytes of the answer, of a refusal as well."""
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        fields = {"Content-Type": "application/json"} if data is not None else {}
        request = urllib.request.Request(
            self.base + path, data=data, headers={**fields, **(headers or {})}, method=method)
        try:
            with urllib.request.urlopen(request) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def raw(self, path):
        """The bytes at a path."""
        status, body = self.send("GET", path)
        expect(status == 200, f"GET {path}: {status} {body[:200]!r}")
        return body

    def get(self, path):
        """The JSON at a path."""
        return json.loads(self.raw(path))

    def post(self, path, body):
        """The JSON of the answer to a POST."""
        status, reply = self.send("POST", path, body)
        expect(status in (200, 202), f"POST {path}: {status} {reply[:200]!r}")
        return json.loads(reply)

    def buy(self, product, account="apple-1", **more):
        """Pays at the store. The reply has `transactionID` and `signedTransaction`."""
        return self.post("/store/payments", {"productID": product, "storeAccount": account, **more})

    def file(self, name, content):
        """Writes a file in the temporary folder and returns its path."""
        path = self.folder / name
        path.write_bytes(content)
        return str(path)


def main(simulator, folder, names):
    here = pathlib.Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    failed = passed = 0
    for file in sorted(here.glob("*_checks.py")):
        CHECKS.clear()
        importlib.import_module(file.stem)
        group = file.stem.removesuffix("_checks")
        chosen = [(n, f) for n, f in CHECKS if not names or any(part in f"{group}: {n}" for part in names)]
        if not chosen:
            continue
        mock = Mock(simulator, folder)
        try:
            for name, function in chosen:
                start = time.monotonic()
                try:
                    note = function(mock)
                    passed += 1
                    word = "ok    "
                except Exception as error:  # A check that crashes has failed; the others still run.
                    note = f"{type(error).__name__}: {error}"
                    failed += 1
                    word = "FAILED"
                took = (time.monotonic() - start) * 1000
                print(f"{word} {group}: {name} ({took:.0f} ms)" + (f"\n         {note}" if note else ""), flush=True)
        finally:
            try:
                mock.stop()
            except Failure as error:
                failed += 1
                print(f"FAILED {group}: {error}", flush=True)
    print(f"{passed} of {passed + failed} checks passed")
    # A run that has checked nothing shows nothing.
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
