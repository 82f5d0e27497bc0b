"""Asks whether what the wheel pulls in has any known vulnerability: `python tools/audit.py report.json`.

`report.json` is what `pip install --report` wrote of wheel and extras. pip-audit calls a package that its
service does not know "skipped" and everything "not vulnerable" where the service knows nothing: so a release
with a known hole is asked for beside ours, and if that one is not found, nothing was audited.
Exit code 0: clean; 1: vulnerable, or not audited with --required; without it that is said, and is no failure.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_CONTROL = ("jinja2", "2.11.2")
"""CVE-2020-28493: whoever knows vulnerabilities of Python packages knows this one."""


def main() -> int:
    """Print what was found, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path, help="what pip install --report wrote of wheel and extras")
    parser.add_argument("--required", action="store_true", help="fail where the service cannot be asked")
    parsed = parser.parse_args()
    items = json.loads(parsed.report.read_text("utf-8"))["install"]
    pins = [(item["metadata"]["name"].lower(), item["metadata"]["version"]) for item in items]
    pins = [pin for pin in pins if pin[0] != "mmpscope"]
    control, _ = ask([_CONTROL])
    if not (control and control[0].get("vulns")):
        print(f"audit: not done, the service does not know {'=='.join(_CONTROL)}, which is vulnerable")
        return int(parsed.required)
    answers, reason = ask(pins)
    faults = [line for answer in answers for line in list_faults(answer)]
    if len(answers) != len(pins):
        faults.append(f"{len(pins) - len(answers)} of {len(pins)} packages were not answered for: {reason}")
    print("\n".join(faults) or f"audit: {len(pins)} packages, no known vulnerability")
    return int(bool(faults))


def list_faults(answer: dict[str, Any]) -> list[str]:
    """List what is wrong with one package: vulnerabilities, or that it was not audited."""
    if "skip_reason" in answer:
        return [f"{answer['name']}: not audited, {answer['skip_reason']}"]
    return [
        f"{answer['name']} {answer['version']}: {found['id']}, mended in {found['fix_versions'] or 'none'}"
        for found in answer["vulns"]
    ]


def ask(pins: list[tuple[str, str]]) -> tuple[list[dict[str, Any]], str]:
    """Ask for exact versions; an answer for each, or the last line of what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "pins.txt")
        wanted.write_text("".join(f"{name}=={version}\n" for name, version in pins))
        command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--progress-spinner=off"]
        done = subprocess.run(
            [*command, "--format=json", "-r", wanted], capture_output=True, text=True, check=False
        )
    try:
        answers: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return [], (done.stderr.strip().splitlines() or ["no answer"])[-1]
    return answers, ""


if __name__ == "__main__":
    sys.exit(main())
