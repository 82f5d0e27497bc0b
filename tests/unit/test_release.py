"""The release workflow: few rights, no secret, one build."""

from __future__ import annotations

from pathlib import Path

import yaml

WORKFLOW = Path(__file__).parents[2] / ".github" / "workflows" / "release.yml"


def test_a_release_needs_no_secret_and_few_rights() -> None:
    """Everything may read only; one job may prove who it is, another may write the release."""
    text = WORKFLOW.read_text()
    assert "secrets." not in text
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    rights = {name: job.get("permissions") for name, job in workflow["jobs"].items()}
    wanted = {"index": {"id-token": "write"}, "publish": {"contents": "write"}}
    assert rights == {"packages": None, "windows": None, **wanted}
    assert workflow["jobs"]["index"]["environment"] == "release"


def test_a_release_is_built_once_audited_and_tested() -> None:
    """Only one job builds packages; it audits, lists and tests them; the others wait."""
    jobs = yaml.safe_load(WORKFLOW.read_text())["jobs"]
    runs = {name: " ".join(step.get("run", "") for step in job["steps"]) for name, job in jobs.items()}
    assert [name for name, run in runs.items() if "uv build" in run] == ["packages"]
    assert all(word in runs["packages"] for word in ("audit.py --required", "sbom.py", "tests/wheel"))
    assert {name: job.get("needs") for name, job in jobs.items()} == {
        "packages": None,
        "windows": "packages",
        "index": "windows",
        "publish": "windows",
    }
