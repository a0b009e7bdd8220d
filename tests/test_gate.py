"""The gate, here and on GitHub: it is the README's own command, its workflow is valid, and skips are counted."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema import main as check_jsonschema

from minagent.lab.servers.ready import VARIABLES
from tests.conftest import ROOT, pytest_runtest_makereport
from tests.skips import ANYWHERE, ON_MACOS, may_skip

README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKFLOW = ROOT / ".github" / "workflows" / "gate.yml"
JOBS: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]


def readme_s_test_command() -> str:
    """Return the command below "Run the tests"."""
    return command_below("Run the tests, and every notebook as a test:")


def command_below(line: str) -> str:
    """Return the command of the README that follows a line."""
    found = re.search(rf"^{re.escape(line)}\n\n```sh\n(.*)\n```$", README, re.MULTILINE)
    assert found
    return found[1]


def test_the_gate_runs_the_readme_s_own_test_command():
    """What CI proves is what the README tells the reader to type; the extras come after it."""
    command = readme_s_test_command()
    assert command.startswith("python3 -m pip install uv && python3 -m uv run --group test pytest ")
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-2:] == [f"{command} || exit", ".ci/extras"]
    assert [JOBS[job]["steps"][-1]["run"] for job in ("readme", "extras")] == [command, ".ci/extras"]
    assert JOBS["extras"]["needs"] == "readme"


def test_the_workflow_brings_nothing_that_the_readme_does_not_ask_for():
    """The oldest and the newest Python on Ubuntu, and macOS; there, Python alone, and on Ubuntu strace from apt."""
    machines = [tuple(machine.values()) for machine in JOBS["readme"]["strategy"]["matrix"]["include"]]
    assert machines == [("ubuntu-latest", "3.11"), ("ubuntu-latest", "3.14"), ("macos-latest", "3.13")]
    used = [step.get("uses", step.get("run")).partition("@")[0] for step in JOBS["readme"]["steps"]]
    assert used[:2] == ["actions/checkout", "actions/setup-python"]
    assert used[2].endswith("install -qq --no-install-recommends strace")
    assert len(used) == 4


def test_the_second_part_of_the_gate_runs_what_the_first_does_not():
    """What needs a browser or servers, as the README has it; no folder of tests is in neither part, or in both."""
    command = command_below("`apt-get install chromium fonts-noto-cjk redis-server`, and a run of its own:")
    assert (ROOT / ".ci" / "extras").read_text(encoding="utf-8").splitlines()[-1] == command
    second = [argument for argument in command.split() if argument.startswith("tests")]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    first = project["tool"]["pytest"]["ini_options"]["testpaths"]
    modules = (ROOT / "tests").glob("*/**/test_*.py")
    folders = {f"tests/{module.relative_to(ROOT / 'tests').parts[0]}" for module in modules}
    assert sorted([*first, *second]) == sorted([*folders, "notebooks", "tests/test_*.py"])


def exit_code_of_check(workflow: Path, schema: str = "vendor.github-workflows") -> int:
    """Hold a file against the schema of all its kind, and return how the checker ends: with 0 if it is valid."""
    # Called here, not started: to import its packages takes seconds, and nbval has imported most of them.
    with pytest.raises(SystemExit) as ended:
        check_jsonschema(["--builtin-schema", schema, str(workflow)])
    return int(ended.value.code or 0)


def test_the_servers_in_containers_are_valid_and_have_the_addresses_that_are_said(tmp_path: Path):
    """As `docker compose` reads them; each listens on this machine alone, and the three variables name their ports."""
    path = ROOT / "notebooks" / "compose.yaml"
    text = path.read_text(encoding="utf-8")
    assert exit_code_of_check(path, "vendor.compose-spec") == 0
    (wrong := tmp_path / "compose.yaml").write_text(text.replace("ports:", "port:"), encoding="utf-8")
    assert exit_code_of_check(wrong, "vendor.compose-spec") != 0
    ports = [port.split(":") for service in yaml.safe_load(text)["services"].values() for port in service["ports"]]
    assert {host for host, _, _ in ports} == {"127.0.0.1"}
    said = dict(re.findall(r'export (\w+)="\S*?127\.0\.0\.1:(\d+)', text))
    assert said == dict(zip(VARIABLES.values(), [outside for _, outside, _ in ports], strict=True))


def test_the_workflow_is_valid():
    """Every key is one that GitHub knows, where it may stand."""
    assert exit_code_of_check(WORKFLOW) == 0


@pytest.mark.parametrize(
    ("good", "bad", "complaint"),
    [
        ("steps:", "step:", "$.jobs.extras: Additional properties are not allowed ('step' was unexpected)"),
        ("pull_request:", "pull_requests:", "$.on: {'push': None, 'pull_requests': None} is not valid"),
    ],
)
def test_a_broken_workflow_is_refused(
    good: str, bad: str, complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The check above can fail, and names what is wrong."""
    broken = tmp_path / "gate.yml"
    broken.write_text(WORKFLOW.read_text(encoding="utf-8").replace(good, bad), encoding="utf-8")
    assert exit_code_of_check(broken) == 1
    assert complaint in capsys.readouterr().out


CHAPTER = "tests/test_chapter_listings.py::test_the_chapter_s_functions_run_on_our_classes"
BROWSER = "tests/browser/test_access_in_jupyterlab.py::test_that_looks_at_a_page"
STRACE = "tests/lab/test_faults.py::test_the_kernel_counts_as_many_file_calls_as_were_killed"
TESTS = {CHAPTER, BROWSER, f"{STRACE}[a]", f"{STRACE}_twice", "tests/browsers.py::test"}


@pytest.mark.parametrize(
    ("no_skips", "platform", "may"),
    [
        ("", "linux", TESTS),
        ("1", "linux", set()),
        ("1", "darwin", set()),
        ("unless listed", "linux", {CHAPTER}),
        ("unless listed", "darwin", {CHAPTER, f"{STRACE}[a]"}),
    ],
)
def test_only_what_is_listed_may_skip(no_skips: str, platform: str, may: set[str]):
    """Nothing in `.ci/run`; on GitHub the chapter's listings; there on macOS what needs strace, too."""
    assert {test for test in TESTS if may_skip(test, no_skips, platform)} == may


def test_the_list_is_counted_and_names_tests_that_exist():
    """Two entries, each with its reason. Whoever adds one changes this number, too."""
    assert len(ANYWHERE) + len(ON_MACOS) == 2
    for entry, reason in (ANYWHERE | ON_MACOS).items():
        place, _, name = entry.partition("::")
        assert reason
        assert (ROOT / place).exists()
        assert not name or f"\ndef {name}(" in (ROOT / place).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("no_skips", "test", "outcome"),
    [
        ("", BROWSER, "skipped"),
        ("1", CHAPTER, "failed"),
        ("unless listed", CHAPTER, "skipped"),
        ("unless listed", f"{STRACE}_twice", "failed"),
    ],
)
def test_a_skip_that_is_not_listed_is_reported_as_a_failure(
    no_skips: str, test: str, outcome: str, monkeypatch: pytest.MonkeyPatch
):
    """As pytest asks for it: it sends a report, and takes what comes back."""
    monkeypatch.setenv("NO_SKIPS", no_skips)
    report = pytest.TestReport(test, (test, 0, test), {}, "skipped", (test, 0, "Skipped: a reason"), "setup")
    hook = pytest_runtest_makereport()
    next(hook)
    with pytest.raises(StopIteration) as returned:
        hook.send(report)
    assert returned.value.value.outcome == outcome
