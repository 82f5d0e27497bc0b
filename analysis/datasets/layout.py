"""Where the parts of a dataset lie, and which of them count.

A part counts when the part of the table ``files`` of its batch is there, which is written last. So whatever
moment a build is stopped at, each batch is whole or not there; what is left over is swept by the next build.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mmpscope.analysis.datasets.schema import DATASET_VERSION, PARTITIONED
from mmpscope.analysis.errors import UsageError
from mmpscope.formats.errors import FormatError, InputError, UnsupportedVersionError

__all__ = [
    "DESCRIPTION",
    "NO_MONTH",
    "OWN_RULES",
    "Description",
    "Part",
    "is_dataset",
    "list_batches",
    "list_leftovers",
    "list_parts",
    "place_part",
    "read_description",
    "split_datasets",
]

DESCRIPTION = "mmpscope-dataset.json"
"""The file that makes a folder a dataset; builders lock it."""

NO_MONTH = "__HIVE_DEFAULT_PARTITION__"
"""What Hive and all that read its folders call a partition whose key is null."""

OWN_RULES = "+"
"""What the version of the rules ends in where rules of the user's own were asked first."""

_PART = re.compile(r"part-(?P<generation>\d+)-(?P<batch>[0-9a-f]{16})-(?P<columns>[0-9a-f]{8})\.parquet")
_TEMPORARY = ".mmpscope-*.tmp"
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Description:
    """What the file of that name says; parts of another ``generation`` do not count."""

    version: int
    generation: int
    rules: str
    producer: str

    def render(self) -> bytes:
        """Write it as JSON."""
        return (json.dumps(asdict(self), indent=1) + "\n").encode()


@dataclass(frozen=True)
class Part:
    """One Parquet file: of which table, month (None: no partition or not known) and batch.

    Parts with the same ``columns`` have the same columns, of the same types: whoever reads them need not look
    at each to know.
    """

    path: Path
    table: str
    month: str | None
    batch: str
    columns: str


def is_dataset(path: str | Path) -> bool:
    """Tell whether a path is a folder that `mmp dataset build` has made."""
    return (Path(path) / DESCRIPTION).is_file()


def split_datasets(inputs: Sequence[str], rules: str | None) -> tuple[list[str], list[str]]:
    """Part inputs into datasets and the rest, both in order; ``rules`` is the path of the user's own, if any.

    A dataset keeps the types that it was built with: UsageError where others are asked of it. Raises as
    `read_description`.
    """
    datasets = [name for name in inputs if is_dataset(name)]
    for name in datasets:
        if rules is not None and not read_description(Path(name)).rules.endswith(OWN_RULES):
            what = f"--rules says nothing about {name}: types in it are those that it was built with"
            raise UsageError(f"{what}. Build it with `mmp dataset build --rules {rules} --rebuild`")
    return datasets, [name for name in inputs if name not in datasets]


def read_description(root: Path) -> Description:
    """Read what a dataset says of itself.

    Raises UsageError for a folder that is none, UnsupportedVersionError for one of a newer version,
    InputError or FormatError where the file cannot be read or is damaged.
    """
    path = root / DESCRIPTION
    if not path.is_file():
        now = "Make one with `mmp dataset build DIR --from 'GLOB'`"
        raise UsageError(f"{root} is no dataset: it has no {DESCRIPTION}. {now}")
    try:
        with path.open("rb") as stream:
            found = json.loads(stream.read(_MOST_BYTES))
        description = Description(**found)
    except OSError as error:
        raise InputError(f"{path}: it cannot be read ({error.strerror}). Check its rights") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError("it does not describe a dataset", path=str(path), now="Build a new one") from error
    if not _is_sound(description):
        raise FormatError("it does not describe a dataset", path=str(path), now="Build a new one")
    if description.version > DATASET_VERSION:
        what = f"the dataset is of version {description.version}, and this program knows {DATASET_VERSION}"
        raise UnsupportedVersionError(what, path=str(root), now="Use a newer mmpscope")
    return description


def _is_sound(description: Description) -> bool:
    numbers = (description.version, description.generation)
    texts = (description.rules, description.producer)
    return all(type(each) is int and each > 0 for each in numbers) and all(
        type(each) is str for each in texts
    )


def place_part(root: Path, part: tuple[str, str | None], generation: int, batch: str, columns: str) -> Path:
    """Return where a part of a table and month belongs."""
    table, month = part
    folder = root / table
    if table in PARTITIONED:
        folder /= f"month={month or NO_MONTH}"
    return folder / f"part-{generation}-{batch}-{columns}.parquet"


def list_batches(root: Path, generation: int) -> list[str]:
    """Return the batches of a generation that are whole, in the order of their names."""
    found = (_PART.fullmatch(path.name) for path in _list_files(root / "files"))
    return sorted(each["batch"] for each in found if each and int(each["generation"]) == generation)


def list_parts(root: Path, generation: int, *tables: str) -> dict[str, list[Part]]:
    """Return the parts of some tables that count, by month and batch."""
    whole = set(list_batches(root, generation))
    return {
        table: [part for own, part in _find_parts(root, table) if own == generation and part.batch in whole]
        for table in tables
    }


def list_leftovers(root: Path, generation: int) -> Iterator[Path]:
    """Yield the files that a stopped build has left, and the parts of other generations."""
    whole = set(list_batches(root, generation))
    yield from root.glob(_TEMPORARY)
    for table in (*PARTITIONED, "files"):
        yield from (root / table).rglob(_TEMPORARY)
        for own, part in _find_parts(root, table):
            if own != generation or part.batch not in whole:
                yield part.path


def _find_parts(root: Path, table: str) -> Iterator[tuple[int, Part]]:
    folders: list[tuple[str | None, Path]] = [(None, root / table)]
    if table in PARTITIONED:
        folders = sorted(_list_months(root / table), key=lambda each: each[1])
    for month, folder in folders:
        for path in _list_files(folder):
            if found := _PART.fullmatch(path.name):
                yield int(found["generation"]), Part(path, table, month, found["batch"], found["columns"])


def _list_months(folder: Path) -> Iterator[tuple[str | None, Path]]:
    for path in _list_files(folder):
        key, is_there, month = path.name.partition("=")
        if key == "month" and is_there:
            yield None if month == NO_MONTH else month, path


def _list_files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except FileNotFoundError:
        return []
