"""What may skip where NO_SKIPS is set, and why. Whatever else skips there fails.

NO_SKIPS=1 is for a machine that has everything: nothing may skip. NO_SKIPS="unless listed" is for a machine that has
this repository and what its README asks for, as in .github/workflows: the tests listed here may skip.

Each entry is a folder, a module or a test, and stands for all tests in it.
"""

ANYWHERE = {
    "tests/test_chapter_listings.py": "the chapter's text is not part of this repository",
}
ON_MACOS = {
    "tests/lab/test_faults.py::test_the_kernel_counts_as_many_file_calls_as_were_killed": "macOS has no strace",
}


def may_skip(node_id: str, no_skips: str, platform: str) -> bool:
    """Tell whether a test may skip, under this value of NO_SKIPS and on this platform, a value of `sys.platform`."""
    listed = [*ANYWHERE, *(ON_MACOS if platform == "darwin" else [])]
    return not no_skips or (no_skips == "unless listed" and any(_is_in(node_id, entry) for entry in listed))


def _is_in(node_id: str, entry: str) -> bool:
    return node_id.startswith(entry) and node_id[len(entry) :][:1] in ("", "/", ":", "[")
