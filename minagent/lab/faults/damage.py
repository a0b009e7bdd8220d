"""Damage a document at every place where it can be damaged, and count what a loader lets pass.

    flips(data, load)        for each byte: how many of its 8 bits can be flipped without the loader noticing
    cuts(data, load)         for each length: whether the loader takes the document cut there for a whole one

To pass is to load, and to load something else than the undamaged document. Damage that changes nothing does no harm.
"""

from collections.abc import Callable
from typing import Any

Load = Callable[[bytes], Any]  # returns what the bytes say, or raises


def flips(data: bytes, load: Load) -> list[int]:
    """Return for each byte how many single flipped bits of it pass, 0 to 8."""
    wanted = load(data)
    return [sum(_passes(flip(data, 8 * byte + bit), load, wanted) for bit in range(8)) for byte in range(len(data))]


def flip(data: bytes, bit: int) -> bytes:
    """Return `data` with one bit flipped, counted from the first bit of the first byte."""
    damaged = bytearray(data)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def cuts(data: bytes, load: Load) -> list[bool]:
    """Return for each length less than that of `data` whether the document cut there passes."""
    wanted = load(data)
    return [_passes(data[:length], load, wanted) for length in range(len(data))]


def _passes(damaged: bytes, load: Load, wanted: Any) -> bool:
    try:
        return bool(load(damaged) != wanted)
    except Exception:
        return False
