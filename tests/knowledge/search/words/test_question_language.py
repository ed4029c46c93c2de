"""The language of a question is guessed where it is clear, and nowhere else."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.search.words.question_language import guess_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How do I reset the password of my account?", "en"),
        ("why does the build fail", "en"),
        ("Wie setze ich das Passwort zurück?", "de"),
        ("Welche Fristen gelten für die Kündigung einer Wohnung?", "de"),
        ("¿Cómo cambio la contraseña?", "es"),
        ("donde esta el archivo de configuracion", "es"),
        ("Como não perder os dados da minha conta?", "pt"),
        ("Quais são os prazos para a matrícula?", "pt"),
        ("Comment est-ce que je change le mot de passe ?", "fr"),
        ("Come posso cambiare la password del mio account?", "it"),
        ("Hoe kan ik het wachtwoord van mijn account wijzigen?", "nl"),
        ("Hur ändrar jag lösenordet för mitt konto och vad händer?", "sv"),
        ("Jak mogę zmienić hasło do konta?", "pl"),
        ("Как сменить пароль учётной записи?", "ru"),
        ("Як змінити пароль облікового запису?", "uk"),
        ("Πώς αλλάζω τον κωδικό;", "el"),
        ("كيف يمكنني تغيير كلمة المرور؟", "ar"),
        ("VPNの使い方", "ja"),
        ("FastAPIのTestClientを使う", "ja"),
        ("비밀번호를 어떻게 바꾸나요?", "ko"),
        ("เปลี่ยนรหัสผ่านอย่างไร", "th"),
    ],
)
def test_a_question_tells_its_language(question: str, language: str) -> None:
    assert guess_language(question) == language


@pytest.mark.parametrize(
    "query",
    [
        "",
        "S3",
        "VPN",
        "password reset",
        "Kubernetes Ingress",
        "die hard",
        "como a casa",
        "ω-3",
        "2024-01-31",
        "東京",
        "§ 433 BGB",
        "process.env.NODE_ENV",
    ],
)
def test_keywords_and_names_have_no_clear_language(query: str) -> None:
    assert guess_language(query) == ""


@pytest.mark.parametrize("query", ["What does ありがとう mean in the text?", "Why is the angle α so large?"])
def test_a_foreign_word_does_not_change_a_question(query: str) -> None:
    assert guess_language(query) == "en"


def test_languages_side_by_side_are_not_clear() -> None:
    assert guess_language("Why does the build fail? Warum ist das so und wie kann ich es beheben?") == ""


@given(st.text(max_size=3000))
def test_any_query_has_a_code_or_none(query: str) -> None:
    assert len(guess_language(query)) in (0, 2)


def test_the_longest_query_is_guessed_in_milliseconds() -> None:
    question = ("warum der build ção " * 100)[:2000]
    began = time.process_time()
    for _ in range(10):
        guess_language(question)
    assert time.process_time() - began < 0.2
