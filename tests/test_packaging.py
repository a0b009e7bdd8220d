"""Packaging: the two lists of packages agree, everything is pinned, and nothing names a place that only we have."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from rattler import MatchSpec

from minagent.lab.kernel.environment import PIP_INSTALL
from tests.conftest import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONDA: dict[str, Any] = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))


def conda_specs() -> dict[str, str]:
    """Return the packages of environment.yml and their bounds, each parsed strictly."""
    specs = [MatchSpec(spec, strict=True) for spec in CONDA["dependencies"] if isinstance(spec, str)]
    return {spec.name.normalized: str(spec.version or "") for spec in specs if spec.name}


def python_specs() -> dict[str, str]:
    """Return the direct dependencies of pyproject.toml and their bounds."""
    split = [re.fullmatch(r"([\w-]+)(.*)", spec) for spec in PROJECT["project"]["dependencies"]]
    return {match[1]: match[2] for match in split if match}


def test_conda_and_uv_install_the_same_packages():
    """environment.yml is pyproject.toml in another spelling, with Python itself, pip, and this package."""
    assert conda_specs() == {**python_specs(), "python": PROJECT["project"]["requires-python"], "pip": ""}
    assert CONDA["dependencies"][-1] == {"pip": ["--editable ."]}
    assert CONDA["channels"] == ["conda-forge"]


@pytest.mark.parametrize("spec", ["jupyterlab=4.6==", "nbval >=", "matplotlib >=3.9,,<4"])
def test_the_strict_parser_refuses_a_broken_spec(spec: str):
    """The parse above can fail."""
    with pytest.raises(Exception, match=r".+"):
        MatchSpec(spec, strict=True)


def test_every_direct_dependency_has_a_lower_bound_and_is_pinned():
    """Bounds for who installs the package, pins for who runs the README's commands."""
    groups = PROJECT["dependency-groups"]
    direct = [*PROJECT["project"]["dependencies"], *(spec for group in groups.values() for spec in group)]
    pinned = {pin.split("==")[0] for pin in PROJECT["tool"]["uv"]["constraint-dependencies"]}
    for spec in direct:
        name, bound, _ = re.split(r"(>=)", spec)
        assert bound == ">="
        assert name in pinned


def test_installed_by_default_are_the_four_packages_of_the_set():
    """Test tools come with a group that only the second command asks for."""
    assert python_specs().keys() == {"ipywidgets", "jupyter", "matplotlib", "nbval"}
    assert PROJECT["tool"]["uv"]["default-groups"] == []
    assert f"pip install {' '.join(python_specs())}" == PIP_INSTALL


def tracked_files() -> list[Path]:
    """Return the files that git tracks or is about to."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is a copy without its git repository")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def test_no_lock_file_is_tracked():
    """uv.lock names the host of the package index in every line."""
    assert not [path for path in tracked_files() if path.name in ("uv.lock", "pylock.toml")]


HOSTS = re.compile(
    "pypi" + r"\.org|python" + r"hosted\.|registry\.npm" + r"js|deb\.deb" + r"ian\.|/home/\w+/|/ro" + "ot/"
)


def test_no_file_names_a_registry_host_or_a_home_folder():
    """The repository works for everyone, behind any mirror."""
    for path in tracked_files():
        if path.suffix not in (".png",):
            assert not HOSTS.search(path.read_text(encoding="utf-8")), path
