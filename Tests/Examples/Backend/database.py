"""Transactions of PostgreSQL, and the statements of statements.sql by their names."""

import os
import pathlib
import queue
import re

import psycopg2
import psycopg2.errors
import psycopg2.extras

# What another transaction at the same time may cause. The work is done again, and then finds what that one wrote.
RACES = (psycopg2.errors.DeadlockDetected, psycopg2.errors.UniqueViolation)
TEXTS = re.split(r"^-- name: (\w+)\n", pathlib.Path(__file__).with_name("statements.sql").read_text(), flags=re.M)
# `:name` is the driver's `%(name)s`.
STATEMENTS = {
    name: re.sub(r"(?<!:):(\w+)", r"%(\1)s", text.replace("%", "%%")) for name, text in zip(TEXTS[1::2], TEXTS[2::2])}
IDLE = queue.LifoQueue()
for _ in range(16):
    IDLE.put(None)


class Session:
    """One transaction."""

    def __init__(self, cursor):
        self.cursor = cursor

    def run(self, name, **values):
        try:
            self.cursor.execute(STATEMENTS[name], values)
        except ValueError as error:
            raise psycopg2.DataError("a text that PostgreSQL cannot hold: NUL, or half of a character") from error
        return self.cursor.rowcount

    def rows(self, name, **values):
        self.run(name, **values)
        return self.cursor.fetchall()

    def row(self, name, **values):
        """The first row, or None."""
        return next(iter(self.rows(name, **values)), None)


def perform(work):
    """Calls `work` with a session, and commits. What it returns may be answered: it is durable."""
    for attempt in range(10):
        connection = IDLE.get()
        try:
            if connection is None or connection.closed:
                connection = psycopg2.connect(
                    os.environ["DATABASE"], cursor_factory=psycopg2.extras.NamedTupleCursor)
            with connection, connection.cursor() as cursor:
                return work(Session(cursor))
        except RACES:
            if attempt == 9:
                raise
        finally:
            IDLE.put(connection)


def row(name, **values):
    """The first row of one statement, which is committed; or None."""
    return perform(lambda session: session.row(name, **values))
