"""A writer that does not give up: it appends, and after each Conflict it tries again.

python -m tests.stores.appending FOLDER NAME COUNT
"""

import sys

from minagent.errors import Conflict
from minagent.stores.base import Store
from minagent.stores.file import FileStore


def append_all(store: Store, name: str, count: int) -> int:
    """Append {"NAME":0}, {"NAME":1}, ... to the session "demo"; return how many conflicts there were."""
    conflicts = length = 0
    for number in range(count):
        while True:
            try:
                store.append("demo", [f'{{"{name}":{number}}}'.encode()], length)
            except Conflict as conflict:
                conflicts, length = conflicts + 1, conflict.length
            else:
                length += 1
                break
    return conflicts


if __name__ == "__main__":
    folder, name, count = sys.argv[1:]
    print(append_all(FileStore(folder), name, int(count)))
