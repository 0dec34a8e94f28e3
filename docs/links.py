"""Is there an internal link that leads nowhere? `python docs/links.py docs/_build/html`."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The targets that a page links to, and the anchors that it offers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the tag links to, and what links can lead to."""
        for name, value in attrs:
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)
            elif value and name in ("href", "src") and tag in ("a", "img", "script", "link"):
                self.targets.append(value)


def dead(folder: Path) -> list[str]:
    """Every internal link without a target, as "page: link"."""
    files = (file for file in folder.resolve().rglob("*.html") if "_static" not in file.parts)
    pages = {file: Page(file.read_text("utf-8")) for file in files}
    return [
        f"{file.relative_to(folder.resolve())}: {target}"
        for file, page in pages.items()
        for target in page.targets
        if not _leads_somewhere(target, file, pages)
    ]


def _leads_somewhere(target: str, file: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    wanted = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if wanted not in pages:
        return wanted.is_file()
    return not parts.fragment or unquote(parts.fragment) in pages[wanted].anchors


if __name__ == "__main__":
    lost = dead(Path(sys.argv[1]))
    sys.exit("\n".join(["Links that lead nowhere:", *lost]) if lost else 0)
