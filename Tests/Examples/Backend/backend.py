"""The backend: backend.py PORT. Each route commits before it answers."""

import sys

import notifications  # noqa: F401
import orders  # noqa: F401
import uploads  # noqa: F401
from contract import check
from database import perform
from people import account, admit, credentials
from proofs import token
from server import Handler, Server, invalid, route


@route("POST", "/v1/adoptions")
def adopt(request):
    owner, (kind, device, *secret) = account(request, "Account-Authorization"), credentials(request)
    body = check(request.json(), "DeviceAdoption")
    if kind != "device" or device != token(body["device"]):
        raise invalid("device: not the one of the Authorization header")
    admit(device, *secret)

    def work(session):
        session.run("lock_device", device=device)
        session.run("note_adoption", device=device, account=owner)
        session.run("adopt", device=device, account=owner)

    perform(work)
    return 200, {"device": body["device"]}


@route("GET", "/v1/entitlements")
def entitlements(request):
    owner = account(request)
    rows = perform(lambda session: session.rows("entitlements", account=owner))
    return 200, {"entitlements": [row.document for row in rows]}


if __name__ == "__main__":
    server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
    print("listening", flush=True)
    server.serve_forever()
