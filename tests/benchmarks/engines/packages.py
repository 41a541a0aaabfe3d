"""What the packages of engines are: wheels for which machines, licences, and what they install."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

TIMEOUT = 60.0
PYTHONS = ("cp311", "cp312", "cp313")
MACHINES = {
    "Linux x86": re.compile("manylinux.*x86_64|^any$"),
    "Linux ARM": re.compile("manylinux.*aarch64|^any$"),
    "macOS ARM": re.compile("macosx.*(arm64|universal2)|^any$"),
    "macOS x86": re.compile("macosx.*(x86_64|universal2)|^any$"),
    "Windows": re.compile("win_amd64|^any$"),
}


def wheels_of(package: str, index_url: str) -> tuple[str, dict[str, list[str]]]:
    """Return the newest version on the package index, and for each machine the Pythons with a wheel.

    Raises:
        OSError: the index cannot be reached.
    """
    request = urllib.request.Request(
        f"{index_url.rstrip('/')}/{package}/",
        headers={"Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.1"},
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
        page = answer.read().decode()
    files = _files(page)
    wheels = [parse_wheel_filename(name) for name in files if name.endswith(".whl")]
    versions = [version for _, version, *_ in wheels if not version.is_prerelease]
    newest = max(versions, default=Version("0"))
    found: dict[str, list[str]] = {machine: [] for machine in MACHINES}
    for _, version, _, tags in wheels:
        if version == newest:
            for tag in tags:
                for machine, pattern in MACHINES.items():
                    if pattern.search(tag.platform):
                        found[machine] += [one for one in PYTHONS if _fits(tag, one)]
    return str(newest), {machine: sorted(set(own)) for machine, own in found.items()}


def _files(page: str) -> list[str]:
    try:
        return [file["filename"] for file in json.loads(page)["files"]]
    except ValueError:
        links = re.findall(r'href="([^"#]+)', page)
        return [link.rsplit("/", 1)[-1] for link in links]


def _fits(tag: Any, python: str) -> bool:
    if tag.abi == "abi3":
        return int(tag.interpreter[3:] or 0) <= int(python[3:])
    return tag.interpreter in (python, "py3", "py2.py3")


def licence_of(package: str) -> str:
    """Return the licence of an installed package, as its metadata have it."""
    about = distribution(package).metadata
    given = about.get("License-Expression") or about.get("License") or ""
    if given and "\n" not in given.strip() and len(given) < 40:
        return given.strip()
    marks = [one for one in about.get_all("Classifier") or () if one.startswith("License ::")]
    return marks[0].rsplit(" :: ", 1)[-1] if marks else "not stated"


def megabytes_of(packages: Iterable[str], beside: str) -> tuple[float, float]:
    """Return the MB of packages on the disk, and with what they require beyond a package's own."""
    own = {canonicalize_name(package) for package in packages}
    there = closure_of([beside])
    more = closure_of(own) - there
    return sum(map(_size, own)) / 1e6, sum(map(_size, own | more)) / 1e6


def closure_of(packages: Iterable[str]) -> set[str]:
    """Return packages and all that they require, as far as it is installed."""
    wanted, found = [canonicalize_name(one) for one in packages], set[str]()
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        try:
            one: Distribution = distribution(name)
        except PackageNotFoundError:
            continue
        found.add(name)
        requirements = map(Requirement, one.requires or ())
        wanted += [
            canonicalize_name(each.name)
            for each in requirements
            if each.marker is None or each.marker.evaluate({"extra": ""})
        ]
    return found


def _size(package: str) -> int:
    one = distribution(package)
    files = (one.locate_file(file) for file in one.files or ())
    return sum(file.stat().st_size for file in files if file.is_file())  # type: ignore[attr-defined]


def describe(package: str, index_url: str) -> dict[str, str]:
    """Return the row of a package, as far as its index answers and it is installed."""
    row = {"package": package}
    try:
        row["newest"], found = wheels_of(package, index_url)
        row["wheels"] = _shown(found)
    except (urllib.error.URLError, OSError) as error:
        row["newest"], row["wheels"] = "?", f"the package index does not answer: {error}"
    try:
        row["measured"], row["licence"] = distribution(package).version, licence_of(package)
        own, all_in_all = megabytes_of([package], "clew")
        row["MB"] = f"{own:.0f} ({all_in_all:.0f})"
    except PackageNotFoundError:
        row["measured"], row["licence"], row["MB"] = "not installed", "?", "?"
    return row


def _shown(found: dict[str, list[str]]) -> str:
    missing = [
        f"{machine}: {', '.join(_lacking(own))}" for machine, own in found.items() if _lacking(own)
    ]
    if not missing:
        return "all"
    return "none" if not any(found.values()) else f"without {'; '.join(missing)}"


def _lacking(own: list[str]) -> list[str]:
    lacking = [one for one in PYTHONS if one not in own]
    return ["all"] if len(lacking) == len(PYTHONS) else lacking
