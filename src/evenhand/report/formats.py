"""Numbers, p-values and names as people read them."""

from __future__ import annotations

from math import floor, isfinite, log10

UNDEFINED = "–"


def number(value: float | None, digits: int = 3) -> str:
    """Three decimals, four if small and fewer if large, thousands set apart.

    >>> [number(x) for x in (0.20593, 0.00312, 0.0000021, 1, -1.5, 52041.2, None)]
    ['0.206', '0.0031', '<0.0001', '1', '−1.500', '52,041', '–']
    """
    if value is None or not isfinite(value):
        return UNDEFINED
    size = abs(value)
    if size < 1000 and size == int(size):
        return f"{value:.0f}".replace("-", "−")
    if size >= 1e9:
        return f"{value:.{digits}g}".replace("-", "−")
    if size < 0.00005:
        return "<0.0001" if value > 0 else "−<0.0001"
    decimals = max(0, digits + (size < 0.01) - max(0, floor(log10(size))))
    return f"{value:,.{decimals}f}".replace("-", "−")


def difference(value: float | None) -> str:
    """A number with its sign.

    >>> difference(0.15), difference(-0.15), difference(0.0)
    ('+0.150', '−0.150', '0')
    """
    return f"+{number(value)}" if value is not None and value > 0 else number(value)


def p_value(value: float | None) -> str:
    """A p-value without its leading zero.

    >>> p_value(0.0003), p_value(0.0213), p_value(0.31), p_value(1.0)
    ('<.001', '.021', '.31', '1')
    """
    if value is None:
        return UNDEFINED
    if value < 0.001:
        return "<.001"
    return f"{value:.{3 if value < 0.1 else 2}f}".removeprefix("0") if value < 0.995 else "1"


def percent(share: float | None) -> str:
    """A share of the whole; one decimal below ten percent.

    >>> percent(0.4231), percent(0.0423), percent(0.0)
    ('42%', '4.2%', '0%')
    """
    if share is None:
        return UNDEFINED
    if 0 < abs(share) < 0.0005:
        return "<0.1%"
    return f"{100 * share:.{1 if 0 < abs(share) < 0.0995 else 0}f}%".replace("-", "−")


def count(value: float | None) -> str:
    """A whole number with thousands set apart; sums of weights may have a fraction.

    >>> count(48842), count(12.5)
    ('48,842', '12.5')
    """
    if value is None:
        return UNDEFINED
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def name(label: str) -> str:
    """A label that can be seen: blank ones are put in quotation marks.

    >>> name("Female"), name(" ")
    ('Female', '“ ” (blank)')
    """
    return label if label.strip() else f"“{label}” (blank)"


def words(identifier: str) -> str:
    """A registered name as words.

    >>> words("equalized_odds"), words("performance_parity(f1)")
    ('Equalized odds', 'Performance parity: f1')
    """
    plain = identifier.replace("_", " ").replace("(", ": ").removesuffix(")")
    return plain[:1].upper() + plain[1:]


def listing(items: list[str]) -> str:
    """Items joined as in a sentence.

    >>> listing(["a"]), listing(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def plural(number_of: int, thing: str) -> str:
    """A count with its noun.

    >>> plural(1, "group"), plural(1200, "group")
    ('1 group', '1,200 groups')
    """
    return f"{count(number_of)} {thing}{'' if number_of == 1 else 's'}"
