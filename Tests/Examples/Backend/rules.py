"""Which verdict a claim gets. Who gets the purchase, the statement `owner` of statements.sql decides."""

from typing import NamedTuple


class Sender(NamedTuple):
    """An account, or a device with the account that is signed in there; neither for the store."""

    account: str | None = None
    device: str | None = None
    signed_in: str | None = None

    def word(self, owner):
        """Whose purchase it is, as the sender may know it. It names no person."""
        if owner.account is not None:
            return "yours" if owner.account in (self.account, self.signed_in) else "another"
        return "device" if owner.device == self.device else "another"


class Named(NamedTuple):
    """The orders that a claim names."""

    bound: str | None = None
    candidates: tuple = ()


def judge(session, facts, named=Named(), sender=Sender(), is_proven=False):
    """Learns what the store says of a transaction, and credits it. Returns the verdict; None if it has no owner yet."""
    if sender.device:
        session.run("device", device=sender.device)
    session.run("lock", **facts)
    session.run("learn", **facts)
    key = {"environment": facts["environment"], "id": facts["id"]}
    verdict = settle(session, key, named, sender, is_proven)
    for other in session.rows("related", **key):
        settle(session, other._asdict(), Named(), Sender(), is_proven=False)
    return verdict


def settle(session, key, named, sender, is_proven):
    before = session.row("state", **key)
    owner = session.row(
        "owner", **key, account=sender.account, device=sender.device, bound=named.bound,
        candidates=list(named.candidates), is_proven=is_proven)
    if owner is None:
        return None
    number = before.order_number
    if before.share is not None and before.units == 0:
        word = "refunded"
        owner = before if before.is_credited else owner
    elif before.is_over and not before.is_credited:
        word = "lapsed"
    else:
        number = session.row("credit", **key, **owner._asdict()).order_number
        is_moved = (before.account, before.device) != (owner.account, owner.device)
        word = "granted" if not before.is_credited or is_moved and owner.account else "duplicate"
        word = word if before.share is None else "refunded"
    verdict = {"verdict": word, "owner": sender.word(owner)}
    if verdict["owner"] != "another":
        if word == "refunded":
            verdict |= {"refundedShare": before.share, "refundedUnits": before.quantity - before.units}
        return verdict | ({"orderNumber": number} if number else {})
    if word in ("granted", "duplicate"):
        verdict["verdict"] = "otherOwner"
    # An account could list guesses. A device knows the orders that were made on it.
    is_known = sender.device and number and number in (named.bound, *named.candidates)
    return verdict | ({"orderNumber": number} if is_known else {})
