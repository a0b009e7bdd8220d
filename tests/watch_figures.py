"""In a kernel of a notebook: each figure is looked at when it is shown. One that cannot be read is an error."""

from typing import Any

from IPython.core import pylabtools


def watch() -> None:
    """Look at each figure from now on."""
    show: Any = pylabtools.print_figure

    def look_and_show(figure: Any, *arguments: Any, **options: Any) -> Any:
        from tests.figures import unreadable  # noqa: PLC0415 - few kernels draw; numpy and matplotlib take their time

        if found := unreadable(figure):
            raise ValueError(f"this figure cannot be read: {'; '.join(found)}")
        return show(figure, *arguments, **options)

    setattr(pylabtools, "print_figure", look_and_show)  # noqa: B010 - mypy would not have it otherwise
