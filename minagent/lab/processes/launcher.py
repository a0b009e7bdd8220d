"""A small process that forks the lab's other ones, so that they need not start Python and import everything again.

A fork of a notebook's kernel, which has many threads, may inherit a lock that nobody is left to open. A fork of the
launcher, which has one, does not, and takes a few milliseconds. It is started once for each process that wants
children, and ends with it: then it reads the end of its socket.

It reads one order after the other, a line of JSON each, and answers each with a line that has the same number:

    {"number": 1, "start": "gASVWwAAAAAAAACMHm1pbmFnZW50..."}
    {"number": 1, "pid": 4711}
    {"number": 2, "wait": 4711, "options": 0}
    {"number": 2, "status": 9}

What is to be started is a call: a function and its arguments, pickled. With it come three open files, which become
standard input, output and error of the child.
"""

import base64
import contextlib
import json
import os
import pickle
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn


def serve(parent: socket.socket) -> None:
    """Follow orders until the parent is gone."""
    while True:
        lines, files, _, _ = socket.recv_fds(parent, 1 << 16, 3)
        if not lines:
            return
        while not lines.endswith(b"\n"):
            lines += parent.recv(1 << 16)
        for line in lines.splitlines():  # two, if the parent was interrupted while it waited for an answer
            order = json.loads(line)
            if "start" in order:
                answer = _started(base64.b64decode(order["start"]), files, parent)
            else:
                answer = _waited(order["wait"], order["options"])
            parent.sendall(json.dumps({"number": order["number"], **answer}).encode() + b"\n")


def _started(call: bytes, files: list[int], parent: socket.socket) -> dict[str, Any]:
    # This imports what the call needs, so that the next child finds it imported. What is wrong, the child will say.
    with contextlib.suppress(Exception):
        pickle.loads(call)  # noqa: S301 - it comes from the process that has started this one
    pid = os.fork()
    if pid == 0:
        parent.close()
        _be(call, files)
    for file in files:
        os.close(file)
    return {"pid": pid}


def _waited(pid: int, options: int) -> dict[str, Any]:
    try:
        waited, status = os.waitpid(pid, options)
    except ChildProcessError:  # killed by a parent that was interrupted while it waited, and waited for already
        return {"status": signal.SIGKILL}
    return {"status": status if waited else None}


def _be(call: bytes, files: list[int]) -> NoReturn:
    """Be the child: as a program would be, with a session of its own."""
    os.setsid()  # Jupyter interrupts a cell by a signal to the kernel's whole group of processes
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    code = 1
    try:
        run, arguments = pickle.loads(call)  # noqa: S301
        run(*arguments)
        code = 0
    except SystemExit as error:
        print(error, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
