"""Damage at every bit and every length: what passes is what loads as something else."""

import json

from minagent.lab.faults.damage import cuts, flip, flips


def test_a_loader_that_believes_everything_lets_everything_pass():
    """Each flip of a bit changes the bytes, and each cut too."""
    assert flips(b"ab", bytes) == [8, 8]
    assert cuts(b"ab", bytes) == [True, True]


def test_a_loader_that_refuses_lets_nothing_pass():
    """Raising is noticing."""
    assert flips(b"7", lambda data: {b"7": 7}[data]) == [0]


def test_damage_that_changes_nothing_is_no_harm():
    """In JSON a cut of the last newline is the same document; of the digit before, it is none."""
    assert cuts(b"7\n", json.loads) == [False, False]


def test_flip_counts_bits_from_the_first_of_the_first_byte():
    """Bit 0 of byte 0 is the least significant one."""
    assert flip(b"\x00\x00", 0) == b"\x01\x00"
    assert flip(b"\x00\x00", 15) == b"\x00\x80"
