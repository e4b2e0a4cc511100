"""Whose request it is."""

import hashlib

from database import perform
from proofs import token
from server import Problem


def account_of(credential):
    """The account of a token; None if it is not valid. The place of your own sign-in."""
    return credential.removeprefix("token-") if credential.startswith("token-") else None


def credentials(request, name="Authorization"):
    """('account', name) or ('device', name, hash of the secret)."""
    scheme, _, value = (request.header(name) or "").partition(" ")
    if scheme.lower() == "bearer" and (account := account_of(value)):
        return "account", account
    device, _, secret = value.partition(":")
    if scheme.lower() == "device" and secret and (device := token(device)):
        return "device", device, hashlib.sha256(secret.encode()).hexdigest()
    raise Problem(401, "auth", f"{name}: no valid credential", **{"WWW-Authenticate": "Bearer"})


def account(request, name="Authorization"):
    kind, value, *_ = credentials(request, name)
    if kind != "account":
        raise Problem(401, "auth", "this needs an account", **{"WWW-Authenticate": "Bearer"})
    return value


def signed_in(request):
    """The account that is signed in on the device that uploads. It learns what is its own, and gets nothing."""
    if request.header("Account-Authorization") is None:
        return None
    try:
        return account(request, "Account-Authorization")
    except Problem as problem:
        raise Problem(403, "account", "the account's credential is refused") from problem


def admit(device, secret_hash):
    """Binds the first secret that comes with a device's name, and refuses every other one."""

    def work(session):
        session.run("bind_device", device=device, secret_hash=secret_hash)
        return session.row("device", device=device).secret_hash

    if perform(work) != secret_hash:
        raise Problem(403, "device", "the device is known with another secret")


def note_device(request):
    """Binds the name of the device next to an account's credential. The account's purchases do not depend on it."""
    if request.header("Device-Authorization") is not None:
        try:
            _, *device = credentials(request, "Device-Authorization")
            admit(*device)
        except (Problem, TypeError):
            pass
