"""What counts as unreadable: data of any kind, and nothing that people write, name or search for."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import random
import textwrap
import time
import uuid
from typing import Final

import pytest

from knowledge.search.unreadable import find_readable, find_unreadable

_RANDOM = random.Random(10)
BYTES: Final = _RANDOM.randbytes(480)
BASE64: Final = base64.b64encode(BYTES).decode()
LINES: Final = textwrap.wrap(BASE64, 64)
JWT: Final = (
    f"eyJhbGciOiJIUzI1NiJ9.{BASE64[:160].replace('/', '_').replace('+', '-')}.{BASE64[160:203].replace('/', '_')}"
)
SVG: Final = "<svg xmlns='http://www.w3.org/2000/svg' width='10'><path d='M0 0h10v10z' transform='rotate(45)'/></svg>"

DATA: Final = {
    "picture": f"![plan](data:image/png;base64,{BASE64})",
    "picture in HTML": f'<img src="data:image/png;base64,{BASE64}" alt="Plan">',
    "drawing in a data URI": f'a{{background:url("data:image/svg+xml;utf8,{SVG}")}}',
    "encoded drawing": f"url(data:image/svg+xml,{SVG.replace('<', '%3C').replace('>', '%3E').replace(' ', '%20')})",
    "base64": f"The key {BASE64} is new.",
    "base64 of nothing": base64.b64encode(bytes(3_000)).decode(),
    "base64 in a URL": base64.urlsafe_b64encode(BYTES).decode(),
    "token": f"Authorization: Bearer {JWT}",
    "mail": "\n".join(textwrap.wrap(BASE64, 76)),
    "indented base64": "\r\n".join(f"    {line}" for line in LINES),
    "strings of a program": "\n".join(f'  "{line}" +' for line in LINES),
    "certificate": "\n".join(["-----BEGIN CERTIFICATE-----", *LINES, "-----END CERTIFICATE-----"]),
    "short key": "\n".join(["-----BEGIN PRIVATE KEY-----", LINES[0], "-----END PRIVATE KEY-----"]),
    "hexadecimal": BYTES.hex(),
    "bytes": BYTES.hex(" "),
    "dump": "".join(f"{at:08x}  {BYTES[at : at + 16].hex(' ')}  |....|\n" for at in range(0, 160, 16)),
    "dump of words": "".join(f"{at:07x} {BYTES[at : at + 16].hex(' ', 2)} ........\n" for at in range(0, 160, 16)),
    "modulus": "".join(f"    {BYTES[at : at + 15].hex(':')}:\n" for at in range(0, 150, 15)),
    "array": ", ".join(f"0x{byte:02x}" for byte in BYTES),
    "escapes": '"' + "".join(f"\\x{byte:02x}" for byte in BYTES) + '"',
    "uuencoded": "".join(binascii.b2a_uu(BYTES[at : at + 45]).decode() for at in range(0, 450, 45)),
    "firmware": "".join(f":10{at:04X}00{BYTES[at : at + 17].hex().upper()}\n" for at in range(0, 160, 16)),
    "path of a drawing": f'<path d="{" ".join(f"M{byte}.5 {byte % 24}C" for byte in BYTES[:60])}"/>',
    "script": "!function(e,t){" + "".join(f"e.a{n}=t(e[{n}],{n});if(e){{return!0}}" for n in range(40)) + "}();",
    "style sheet": "".join(f".a{n}{{margin:0 {n}px;color:#fff;padding:0}}" for n in range(30)),
}
TEXTS: Final = {
    "a hash": f"sum {hashlib.sha256(b'').hexdigest()} of the file",
    "the longest hash": hashlib.sha512(b"").hexdigest(),
    "hashes": "\n".join(hashlib.sha256(bytes([n])).hexdigest() for n in range(20)),
    "a commit": f"Reverted in {hashlib.sha1(b'', usedforsecurity=False).hexdigest()}.",
    "checksums": "\n".join(f"{hashlib.sha256(bytes([n])).hexdigest()}  file{n}.tar.gz" for n in range(20)),
    "locked packages": "\n".join(
        f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(bytes([n])).digest()).decode()}",' for n in range(20)
    ),
    "ids": "\n".join(str(uuid.UUID(bytes=BYTES[at : at + 16])) for at in range(0, 320, 16)),
    "fingerprints": "".join(f"{BYTES[at : at + 20].hex(':').upper()}\n" for at in range(0, 100, 20)),
    "a short data URI": "data:text/plain;base64,SGVsbG8gV29ybGQ=",
    "a list after a colon": f"metadata:{','.join(['title', 'author', 'language', 'keywords'] * 8)}",
    "German": "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz" * 3,
    "German without umlauts": "Rindfleischetikettierungsueberwachungsaufgabenuebertragungsgesetz" * 3,
    "Thai": "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอนหรือวรรณยุกต์" * 30,
    "Japanese": "日本語の文章は単語の間に空白を置かないのが普通である。" * 50,
    "a path": "src/main/java/org/springframework/beans/factory/aspectj/AbstractInterfaceDrivenDependencyInjection"
    "Aspect/GenericInterfaceDrivenDependencyInjectionAspectTests.java",
    "a name": "shouldReturnAnErrorWhenTheUserIsNotAuthenticatedAndTheTokenHasExpiredButTheRefreshTokenIsStillValid"
    "AndNotRevokedByTheAdministratorOfTheTenant",
    "a slug": f"https://example.com/blog/2024/05/01/{'why-we-moved-our-monitoring-to-another-server-' * 4}",
    "URLs": "https://docs.example.com/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgVE2upms/edit#gid=0\n" * 5,
    "a signed URL": f"https://b.example.com/q1.pdf?X-Date=20240501T101500Z&Signature={hashlib.sha256(b'').hexdigest()}",
    "JSON": json.dumps([{"id": n, "name": f"Anna {n}", "city": "Berlin"} for n in range(90)], separators=(",", ":")),
    "numbers": "\n".join(" ".join(str(10 + byte % 90) for byte in BYTES[at : at + 20]) for at in range(0, 400, 20)),
    "years": "\n".join(f"{2000 + at} " + " ".join(["12", "45", "33", "21"] * 3) for at in range(20)),
    "error codes": ", ".join(f"0x8007{n:04X}" for n in range(50)),
    "a line": "=" * 2_000,
    "dots": f"Chapter {'.' * 1_500} 5",
    "a signed message": "-----BEGIN PGP SIGNED MESSAGE-----\n\nThe keys have changed.\n",
}


@pytest.mark.parametrize("kind", DATA)
def test_data_is_unreadable(kind: str) -> None:
    text = f"Before it.\n\n{DATA[kind]}\n\nAfter it.\n"
    (found,) = find_unreadable(text)
    assert found[1] - found[0] > 0.5 * len(DATA[kind])
    assert "Before it." in text[: found[0]]
    assert "After it." in text[found[1] :]


@pytest.mark.parametrize("kind", TEXTS)
def test_what_people_write_and_search_for_is_readable(kind: str) -> None:
    assert find_unreadable(f"Before it.\n\n{TEXTS[kind]}\n\nAfter it.\n") == []


def test_a_long_key_in_a_url_does_not_hide_its_host_and_path() -> None:
    url = f"https://files.example.com/shared/reports/{base64.urlsafe_b64encode(BYTES[:120]).decode()}/q1.pdf"
    (found,) = find_unreadable(f"See {url} for it, and for all the others.")
    assert f"See {url} for it"[found[0] : found[1]] in url.split("/")


def test_readable_parts_are_what_is_left() -> None:
    text = f"One {BASE64} two {BASE64}"
    assert [text[start:end] for start, end in find_readable(text)] == ["One ", " two "]
    assert find_readable(BASE64) == []
    assert find_readable("All of it.") == [(0, 10)]


HOSTILE: Final = [
    "A",
    "-----BEGIN A-----\n",
    "data:,<svg",
    '"data:,',
    "ab ",
    "00 11 22 33 44 55 66 77\n",
    "0x1,",
    " ",
    '"',
]


@pytest.mark.parametrize("part", HOSTILE)
def test_the_time_is_linear_in_the_text(part: str) -> None:
    def measure(chars: int) -> float:
        start = time.thread_time()
        find_unreadable(part * (chars // len(part)))
        return time.thread_time() - start

    measure(10_000)
    # Eight times the text may take 64 times the time where it is quadratic.
    assert measure(400_000) < 24 * max(measure(50_000), 0.002)
