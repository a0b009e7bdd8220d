"""A picture as the value of a cell, as SVG and in a sentence, which nbval compares, and as PNG, for who sees no SVG."""

from minagent.lab.picture.layout import Layout
from minagent.lab.picture.svg import to_svg


class Picture(Layout):
    """The picture of a run."""

    def __repr__(self) -> str:
        return f"{self.run.outcome} {self.run.price}"

    def _repr_svg_(self) -> str:
        return to_svg(self.shapes, self.size, self.title, repr(self))

    def _repr_png_(self) -> tuple[bytes, dict[str, float]]:
        from minagent.lab.picture.png import to_png  # noqa: PLC0415 - matplotlib takes longer to load than all the rest

        return to_png(self.shapes, self.size), dict(zip(("width", "height"), self.size, strict=True))
