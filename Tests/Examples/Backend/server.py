"""HTTP for the routes: bodies, limits, and refusals as problem documents (RFC 9457)."""

import http.server
import json
import re
import socketserver
import traceback
import urllib.parse

import psycopg2

LARGEST_BODY = 16 << 20
VERSION = "1"
ROUTES = []


class Problem(Exception):
    """A refusal. `kind` is a word of the protocol, such as `auth`."""

    def __init__(self, status, kind, title, **headers):
        super().__init__(title)
        self.status, self.headers = status, headers
        self.body = {"type": kind, "title": title, "status": status}


def malformed(detail):
    return Problem(400, "malformed", detail)


def invalid(detail, kind="invalid"):
    return Problem(422, kind, detail)


def route(method, pattern):
    """Registers a function. It gets the request, and the part of the path that the pattern has a group for."""

    def register(function):
        ROUTES.append((method, re.compile(pattern), function))
        return function

    return register


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60

    def handle_request(self):
        length = self.headers.get("Content-Length", "0")
        self.unread = int(length) if length.isascii() and length.isdigit() else LARGEST_BODY + 1
        try:
            status, body = self.call()
            self.answer(status, body, {"Content-Type": "application/json"})
        except Problem as problem:
            self.answer(problem.status, problem.body, {"Content-Type": "application/problem+json", **problem.headers})

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request

    def call(self):
        url = urllib.parse.urlsplit(self.path)
        found = {method: (match, function) for method, path, function in ROUTES if (match := path.fullmatch(url.path))}
        if not found:
            raise Problem(404, "not-found", "there is nothing at this path")
        if self.command not in found:
            raise Problem(405, "method", "wrong method", Allow=", ".join(found))
        match, function = found[self.command]
        if self.headers.get("Purchase-Sync-Protocol", VERSION) != VERSION:
            raise Problem(426, "protocol", "another version", **{"Purchase-Sync-Protocol": VERSION})
        self.query = dict(urllib.parse.parse_qsl(url.query))
        try:
            return function(self, *map(urllib.parse.unquote, match.groups()))
        except Problem:
            raise
        except psycopg2.DataError as error:  # Such as a number beyond 64 bits.
            raise malformed("the database cannot hold it") from error
        except Exception as error:
            traceback.print_exc()
            raise Problem(500, "storage", "not committed") from error

    def header(self, name):
        """The value of a header; None without one. A proxy and this server could believe different ones of two."""
        values = self.headers.get_all(name, [None])
        if len(values) > 1:
            raise malformed(f"there is more than one {name} header")
        return values[0]

    def json(self):
        if self.unread > LARGEST_BODY or "Transfer-Encoding" in self.headers:
            raise Problem(413, "too-large", "more than 16 MiB, or of unknown length")
        length, self.unread = self.unread, 0
        try:
            return json.loads(self.rfile.read(length))
        except (ValueError, RecursionError) as error:
            raise malformed("the body is not JSON") from error

    def answer(self, status, body, headers):
        # What is unread would be taken for the next request, and a client that cannot send loses the answer.
        while 0 < self.unread < 4 * LARGEST_BODY and (part := self.rfile.read(min(self.unread, 1 << 16))):
            self.unread -= len(part)
        if self.unread:
            headers["Connection"] = "close"
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": len(data)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format, *arguments):
        """Nothing: a path has an order number in it."""


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    """Several processes listen at one port, and the kernel gives each its share of the connections."""

    allow_reuse_port = True
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        """Nothing: what a route raises is printed there, and a client may close its connection."""
