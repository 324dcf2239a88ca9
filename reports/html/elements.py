"""HTML and SVG elements, built so that no text can be taken for markup."""

from html import escape


class Markup(str):
    """Text that is markup already, and is not escaped again."""

    __slots__ = ()


Content = str | None
"""What goes into an element: markup as it is, other text escaped, None not at all."""

VOID = frozenset({"input", "meta", "br", "path", "rect", "line", "circle", "use"})
"""Elements that are written without an end."""


def el(name: str, *content: Content, **attributes: str | int | float | bool | None) -> Markup:
    """An element. An attribute that is None or False is left out; `class_` means class, and `_` in a name means `-`."""
    parts = [name]
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(key)
        elif value is not None and value is not False:
            parts.append(f'{key}="{escape(str(value))}"')
    start = " ".join(parts)
    if name in VOID:
        return Markup(f"<{start}/>")
    return Markup(f"<{start}>{join(*content)}</{name}>")


def scrolling(content: Content, name: str) -> Markup:
    """What may be wider than the page, and scrolls by itself; `name` says what it is to who does not see it."""
    return el("div", content, class_="scroll", role="region", aria_label=name, tabindex=0)


def join(*content: Content) -> Markup:
    """Several pieces of content one after the other."""
    found = (piece if isinstance(piece, Markup) else escape(piece) for piece in content if piece is not None)
    return Markup("".join(found))
