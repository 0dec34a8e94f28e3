"""A PostgreSQL of our own in a temporary folder, reached by a socket there and gone at the end."""

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from pwd import getpwnam

import pandas as pd
import pytest

PLACES = (*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), None)


def program(name):
    for place in PLACES:
        found = shutil.which(name, path=place)
        if found:
            return found
    return None


class Server:
    def __init__(self, folder, user):
        self.folder, self.user = folder, user

    def call(self, name, *arguments, text=None):
        done = subprocess.run(
            [program(name), *arguments],
            input=text,
            capture_output=True,
            text=True,
            timeout=120,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": str(self.folder)},
            **({"user": self.user.pw_uid, "group": self.user.pw_gid} if self.user else {}),
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def sql(self, query, text=None):
        options = ("--host", str(self.folder), "--dbname", "postgres", "--no-psqlrc", "--csv")
        options += ("--username", "evenhand", "--quiet", "--set", "ON_ERROR_STOP=1")
        return self.call("psql", *options, "--command", query, text=text)

    def load(self, name, frame, types):
        columns = ", ".join(f'"{column}" {types[column]}' for column in frame)
        self.sql(f'drop table if exists "{name}"; create table "{name}" ({columns})')
        self.sql(f'copy "{name}" from stdin with (format csv, header)', frame.to_csv(index=False))

    def read(self, query):
        return pd.read_csv(StringIO(self.sql(query)))


@contextmanager
def server():
    """Start one, or skip and say why."""
    missing = [name for name in ("initdb", "postgres", "pg_ctl", "psql") if program(name) is None]
    if missing:
        pytest.skip(f"PostgreSQL is not installed: there is no {missing[0]}")
    user = getpwnam("nobody") if os.geteuid() == 0 else None  # PostgreSQL refuses to be run by root
    folder = Path(tempfile.mkdtemp(prefix="evenhand-pg-", dir="/tmp"))  # paths of sockets are short
    running = Server(folder, user)
    try:
        if user:
            os.chown(folder, user.pw_uid, user.pw_gid)
        data = str(folder / "data")
        try:
            setup = ("--pgdata", data, "--username", "evenhand", "--auth", "trust", "--no-sync")
            running.call("initdb", *setup, "--encoding", "UTF8", "--no-locale")
            options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
            log = str(folder / "log")
            running.call("pg_ctl", "start", "--wait", "-D", data, "-l", log, "-o", options)
        except (AssertionError, OSError, subprocess.SubprocessError) as failure:
            pytest.skip(f"PostgreSQL does not start here: {failure}")
        try:
            yield running
        finally:
            running.call("pg_ctl", "stop", "--mode", "immediate", "-D", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
