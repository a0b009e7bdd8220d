"""Make each notebook a page of its own, with links to the other pages. Used by nbconvert, through `pages/conf.json`."""

from pathlib import Path
from typing import Any

from nbconvert.preprocessors import Preprocessor

from slides.cut import portable


class Pages(Preprocessor):
    """Put pictures into the text itself, and have links lead to other pages."""

    def preprocess_cell(self, cell: Any, resources: Any, _: int) -> tuple[Any, Any]:
        """Return the cell, its text changed."""
        if cell.cell_type == "markdown":
            cell.source = portable(cell.source, Path(resources["metadata"]["path"]), "html")
        return cell, resources
