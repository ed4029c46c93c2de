"""How the language of a text is detected."""

from __future__ import annotations

import pytest

from publish_knowledge.sources.languages import detect_language, normalize_language

TEXTS = {
    "en": "Refunds are paid within five working days, once the returned goods have arrived at the warehouse.",
    "es": "Los reembolsos se pagan en cinco días hábiles, una vez que la mercancía devuelta llega al almacén.",
    "pt": "Os reembolsos são pagos em cinco dias úteis, depois que a mercadoria devolvida chega ao armazém.",
    "de": "Erstattungen werden innerhalb von fünf Werktagen gezahlt, sobald die Ware im Lager eingetroffen ist.",
    "ja": "返金は、返品された商品が倉庫に到着してから五営業日以内に支払われます。",
    "zh": "退回的商品到达仓库后，退款将在五个工作日内支付。",
    "fr": "Les remboursements sont versés sous cinq jours ouvrables, dès que la marchandise est arrivée.",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_sentence_is_enough_to_detect_its_language(language: str) -> None:
    assert detect_language(TEXTS[language], []) == language


@pytest.mark.parametrize("text", ["", "   ", "123 456", "x = f(y)", "Hola"])
def test_too_short_a_text_is_undetermined(text: str) -> None:
    assert detect_language(text, []) == "und"


@pytest.mark.parametrize(
    ("folders", "language"),
    [
        (["docs", "es"], "es"),
        (["docs", "pt-BR", "guide"], "pt"),
        (["zh-Hans"], "zh"),
        (["es", "en"], "en"),
        (["docs", "api"], "und"),
        (["it-help", "no-code", "esp"], "und"),
    ],
)
def test_where_detection_is_not_confident_the_folder_decides(folders: list[str], language: str) -> None:
    assert detect_language("Hola", folders) == language


def test_a_confident_detection_overrides_the_folder() -> None:
    assert detect_language(TEXTS["en"], ["it"]) == "en"


def test_code_and_links_are_ignored() -> None:
    code = "```python\n" + "for item in the_list_of_items: print(item)\n" * 50 + "```\n"
    assert detect_language(f"{TEXTS['de']}\n\n{code}\nhttps://example.com/this/is/the/english/page\n", []) == "de"


@pytest.mark.parametrize(("tag", "language"), [("en", "en"), ("pt-BR", "pt"), ("ZH_hans", "zh"), (" deu ", "deu")])
def test_a_tag_is_reduced_to_its_language(tag: str, language: str) -> None:
    assert normalize_language(tag) == language


@pytest.mark.parametrize("tag", ["", "english", "e", "en--us", "日本", "en;q=1"])
def test_an_invalid_tag_is_refused(tag: str) -> None:
    with pytest.raises(ValueError, match="is not a language code"):
        normalize_language(tag)
