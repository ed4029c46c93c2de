"""Texts in many scripts and of unusual characters, and one that is longer than a model's input."""

from __future__ import annotations

from typing import Final

TEXTS: Final = (
    "Rotate the signing keys every ninety days, and keep the old ones for a week.",
    "Wo stelle ich ein, wie lange Sitzungen gültig bleiben? Straße, Größe, Übermaß.",
    "La contraseña caduca a los 30 días; después hay que pedir otra.",
    "A configuração fica em C:\\Programas\\Serviço\\opções.yaml (não apague!)",
    "パスワードは九十日ごとに変更してください。ｶﾀｶﾅ①㍿",
    "请每九十天更换一次签名密钥。踴躍",
    "مفاتيح التوقيع تتغير كل تسعين يوما",
    "Ship it 🚀🚀🚀 👩‍👩‍👧 🇩🇪 — 𝔘𝔫𝔦 𐍈𐍈𐍈 \U000f0000\U000f0000",
    "",
    "   \n\t  ",
    "\0",
    "before\0after",
    "<s></s><pad><unk><mask> ▁▁ ▁",
    "```python\nasync def read(path: str) -> bytes: ...\n```",
)
LONG: Final = "Every key has an owner, a date of issue and a date of expiry. 期限が切れた鍵は使えません。" * 22
