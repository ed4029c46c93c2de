"""Labels: names and titles as a person sees them, on a terminal, in a table, in a citation.

A title or a file name may hold anything. Written raw, an escape sequence changes the terminal, a line break ends a row
of a table, and a direction control reorders what stands around it. Texts are never labels: they stay exact.
"""

from __future__ import annotations

import json
import re
from typing import Final

# Controls (C0, DEL, C1), line and paragraph separators, surrogates, and format characters that reorder text or cannot
# be seen. The two joiners (U+200C, U+200D) stay: Persian words and emoji are written with them.
_CONTROLS: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)


def make_visible(text: str) -> str:
    r"""Write each control character of a label as an escape, such as `\n`, `\x1b` or `\u202e`; the rest stays."""
    return _CONTROLS.sub(_escape, text)


def make_lines_visible(text: str) -> str:
    """Show the controls of each line; line ends and tabs stay."""
    return re.sub(r"[^\n\t]+", lambda part: make_visible(part.group()), text.replace("\r\n", "\n"))


def escape_json(document: str) -> str:
    """Write the controls that JSON allows in strings, such as U+009B, as JSON's escapes: its values stay exact."""
    return _CONTROLS.sub(lambda match: json.dumps(match.group())[1:-1], document)


def _escape(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode("ascii")
