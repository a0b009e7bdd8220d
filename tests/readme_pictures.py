"""Draw the pictures that the README opens with: a crash, and the same crash with keys, each of real processes.

    python3 -m uv run --group test python -m tests.readme_pictures

A test holds that they are what the code draws now.
"""

import tempfile
from pathlib import Path

from minagent.lab.crash_lab.crashlab import CrashLab
from minagent.lab.picture.picture import Picture
from minagent.lab.processes.phases import Recording
from tests.conftest import ROOT

IMAGES = ROOT / "notebooks" / "images"
PICTURES: dict[str, tuple[Recording, str]] = {
    "charged_twice": ("every step", "A save after each step, and killed between the charge and its save"),
    "charged_once": ("log with keys", "The same crash, with a log, and a tool that knows its key"),
}
"""For each file: how its run was recorded, and its title."""


def drawn(name: str, folder: Path) -> Picture:
    """Run the errand in `folder`, kill it when the card has been charged, resume it, and return the picture."""
    recording, title = PICTURES[name]
    lab = CrashLab(folder, recording, "errand")
    lab.run_to(1, "result")
    lab.crash()
    lab.resume()
    lab.run()
    lab.close()
    return lab.picture(title)


if __name__ == "__main__":
    for name in PICTURES:
        with tempfile.TemporaryDirectory() as folder:
            (IMAGES / f"{name}.svg").write_text(drawn(name, Path(folder, "lab"))._repr_svg_() + "\n", encoding="utf-8")
