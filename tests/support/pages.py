"""Reads report pages as a browser would: their parts by id, and the data that is packed in them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any, cast

from mmpscope.analysis.pages import tables
from mmpscope.analysis.pages.embed import unpack
from mmpscope.analysis.pages.schema import Lists, Page, Table

__all__ = ["ReadPage", "list_rows", "read_page"]

Row = dict[str, Any]
_RAW = ("script", "style")


class ReadPage(HTMLParser):
    """One page: every tag with its attributes, the text of the body, scripts and styles by themselves."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.raw: dict[str, list[str]] = {name: [] for name in _RAW}
        self.blocks: dict[str, str] = {}
        self._open: tuple[str, dict[str, str | None]] = ("", {})
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._open = ("", {})

    def handle_data(self, data: str) -> None:
        tag, attributes = self._open
        if tag == "script" and attributes.get("type") == "text/plain":
            self.blocks[str(attributes["id"])] = data
        elif tag in _RAW:
            self.raw[tag].append(data)
        else:
            self.texts.append(data)

    @property
    def page(self) -> Page:
        """The block of the page itself."""
        return cast("Page", unpack(self.blocks["page"]))

    def lists(self, number: int) -> Lists:
        """The lists of a snapshot."""
        return cast("Lists", unpack(self.blocks[f"snapshot-{number}"]))

    @property
    def policy(self) -> dict[str, str]:
        """The Content-Security-Policy by directive."""
        stated = next(
            a["content"] for tag, a in self.tags if a.get("http-equiv") == "Content-Security-Policy"
        )
        return {words[0]: words[1] for each in str(stated).split("; ") if (words := each.split(" ", 1))}

    @property
    def text(self) -> str:
        """What a person reads with scripts off."""
        return re.sub(r"\s+", " ", " ".join(self.texts))


def read_page(html: str) -> ReadPage:
    """Parse a page."""
    return ReadPage(html)


def list_rows(table: Table | None, texts: list[str]) -> list[Row]:
    """Return the rows of a table of a page that is there, text and numbers as they are."""
    assert table is not None
    return tables.list_rows(table, texts)
