"""Asks the store about subscriptions whose notification may be missing. Run it hourly: every 12 hours it has a turn."""

from database import perform, row
from notifications import learn
from proofs import STORE, Ruling

PAUSE = 12 * 3_600_000


def run():
    """How many subscriptions were due, and for how many of them no answer came; None before its turn."""
    if row("turn", pause=PAUSE) is None:
        return None
    due = perform(lambda session: session.rows("due"))
    silent = 0
    for subscription in due:
        try:
            for item in STORE.statuses(subscription.chain, subscription.environment):
                learn(item.signedTransactionInfo, item.signedRenewalInfo)
        except Ruling:
            silent += 1
    return len(due), silent


if __name__ == "__main__":
    print(run())
