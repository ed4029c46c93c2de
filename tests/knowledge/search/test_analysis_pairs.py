"""What words find: pairs of a question and two texts, one to be found by it and one not, by the lexical side alone.

All texts stand together in one scope, as a mixed team's do, and no question says its language.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from knowledge.requests import MAX_RESULTS, SearchRequest
from publish_knowledge.sources.documents import Document
from tests.support.datasets import SUPPORT, Location, build, document
from tests.support.reading import list_paths, open_service

pytestmark = pytest.mark.anyio


class Pair(NamedTuple):
    """A question in a language's words, a text of that language that it finds, and one that it must not find."""

    language: str
    query: str
    found: str
    missed: str


UNACCENTED: Final = [
    Pair("en", "resume cafe", "Leave your résumé at the café.", "Leave your bag at the gate."),
    Pair("en", "Zürich", "The Zurich office has moved.", "The Geneva office has moved."),
    Pair("es", "configuracion", "La configuración se guarda sola.", "La confianza se gana despacio."),
    Pair("es", "telefono", "Llame a los teléfonos de guardia.", "Llame al timbre de la puerta."),
    Pair("es", "pinguinos", "El pingüino vive en el sur.", "El oso vive en el norte."),
    Pair("es", "ano fiscal", "El año fiscal termina en junio.", "El mes termina el lunes."),
    Pair("es", "contrasena", "Cambie su contraseña cada trimestre.", "Cambie la rueda trasera."),
    Pair("pt", "configuracao", "A configuração fica no menu.", "A confiança leva tempo."),
    Pair("pt", "informacoes", "Peça informações na recepção.", "Peça um copo de água."),
    Pair("pt", "coracao", "O coração bate mais depressa.", "O relógio anda mais devagar."),
    Pair("pt", "maca", "Comprei uma maçã verde.", "Comprei um pão de queijo."),
    Pair("pt", "São João", "A festa de sao joao atrai muita gente.", "O mercado atrai muita gente."),
    Pair("de", "Grosse", "Die Größe steht auf dem Etikett.", "Die Farbe steht auf dem Deckel."),
    Pair("de", "Munchen", "Der Zug fährt nach München.", "Der Bus hält in Bremen."),
    Pair("de", "Strasse", "Die Straße ist gesperrt.", "Der Weg ist frei."),
]
INFLECTED: Final = [
    Pair("en", "servers running", "One server runs at night.", "One surveyor sleeps at noon."),
    Pair("en", "policies", "Our policy covers theft.", "The parrot read a report."),
    Pair("en", "organisation", "Many organisations share the building.", "The organ plays on Sundays."),
    Pair("en", "cancelled subscription", "Cancelling takes one click.", "Tickets take two weeks."),
    Pair("en", "the customer's invoice", "Customers pay on time.", "Suppliers wait for cash."),
    Pair("es", "canciones", "La canción dura tres minutos.", "La película dura dos horas."),
    Pair("es", "reembolsos", "El reembolso llega en una semana.", "El paquete llega mañana."),
    Pair("es", "corazones", "Late el CORAZÓN.", "Suena la campana."),
    Pair("es", "¿Dónde están las bibliotecas?", "La biblioteca abre a las nueve.", "El museo cierra por reforma."),
    Pair("pt", "pagamentos", "O pagamento foi aprovado.", "O pedido foi enviado."),
    Pair("pt", "Quais são os prazos de entrega?", "O prazo termina hoje.", "A loja fecha aos domingos."),
    Pair("de", "Haus", "Die Häuser am See sind alt.", "Die Boote am See sind neu."),
    Pair("de", "Bücher", "Ein Buch liegt auf dem Tisch.", "Eine Lampe steht im Regal."),
    Pair("de", "Rechnungen bezahlen", "Die Rechnung ist beglichen.", "Die Lieferung ist unterwegs."),
    Pair("ja", "食べる", "昨日すしを食べた。", "昨日ビールを飲んだ。"),
]
COMPOUND: Final = [
    Pair("de", "Versicherung", "Die Krankenversicherung zahlt.", "Die Krankenschwester kommt."),
    Pair("de", "Vertrag", "Mietverträge enden im März.", "Mietwagen stehen am Bahnhof."),
    Pair("de", "Frist", "Die Kündigungsfrist beträgt drei Monate.", "Die Kündigung liegt im Briefkasten."),
    Pair("de", "Urlaub", "Den Urlaubsantrag unterschreibt die Leitung.", "Den Bauantrag prüft das Amt."),
    Pair("de", "Begrenzung", "Die Geschwindigkeitsbegrenzung gilt.", "Die Maut gilt."),
    Pair("de", "Datenschutz", "Die Datenschutzerklärung gilt.", "Die Hausordnung gilt."),
    Pair("de", "Bahnhof", "Am Hauptbahnhof links.", "Am Flughafen rechts."),
    Pair("de", "Krankenversicherung", "Meine Krankenversicherung hat gewechselt.", "Meine Haftpflicht hat bezahlt."),
]
IDENTIFIERS: Final = [
    Pair("en", "ERR_CONN_REFUSED", "The proxy says ERR_CONN_REFUSED.", "The proxy says nothing."),
    Pair("en", "err_conn_refused", "Seen again: ERR_CONN_REFUSED!", "Seen again: a heron!"),
    Pair("en", "connection ERR_CERT_INVALID", "It logs err_cert_invalid twice.", "It logs a heartbeat."),
    Pair("en", "max retries", "Set max_retries to five.", "Set the alarm to five."),
    Pair("en", "maxRetryDelay", "The default of max_retry_delay is 3 s.", "The default colour is blue."),
    Pair("en", "get_user_name", "Call getUserName() first.", "Call the office first."),
    Pair("en", "user name", "Then setUserName runs.", "Then the engine stops."),
    Pair("en", "XMLHttpRequest", "An xml http request was blocked.", "A parade was blocked."),
    Pair("en", "http request", "XMLHttpRequest is old.", "The oak is old."),
    Pair("en", "http2", "The edge speaks HTTP/2 only.", "The clerk speaks Dutch only."),
    Pair("en", "HTTP/2", "Switch on http2 in the settings.", "Switch on light in the hall."),
    Pair("en", "C++", "The driver is written in C++.", "The letter is written in ink."),
    Pair("en", "C++", "Ported from C++ last year.", "Ported from C# last year."),
    Pair("en", "C#", "A C# library.", "A C++ library."),
    Pair("en", "C++ compiler flags", "Flags for C++", "Grade C, pass"),
    Pair("en", "node.js", "We run NodeJS in production.", "We walk dogs in summer."),
    Pair("en", "wifi", "The Wi-Fi in the lobby is open.", "The bar in the lobby is shut."),
    Pair("en", "e-mail", "Send an email.", "Send a postcard."),
    Pair("en", "3.11.7", "Tested with Python 3.11.7 alone.", "Tested with great care."),
    Pair("en", "v2.0.1", "Released as v2.0.1 in spring.", "Released as planned."),
    Pair("en", "nginx.conf", "Edit /etc/nginx/nginx.conf by hand.", "Edit the film by hand."),
    Pair("en", "/var/log/syslog", "Look into /var/log/syslog.", "Look into the mirror."),
    Pair("en", "src/app/main.py", "The entry point is src/app/main.py.", "The entrance is round the corner."),
    Pair("en", "F#", "Written in F#.", "Written in C#."),
    Pair("en", ".NET", "Runs on .NET only.", "Runs on Java only."),
    Pair("en", "ipv6", "Turn on IPv6.", "Turn on IPv4."),
    Pair("en", "std::vector", "Use std::vector here.", "Use a rope here."),
    Pair("en", "SKU-48213", "Part SKU-48213 is sold out.", "The concert is sold out."),
    Pair("de", "ERR_DISK_FULL", "Am Abend kam ERR_DISK_FULL.", "Am Abend kam Besuch."),
    Pair("ja", "ERR_CONN_REFUSED", "ログにERR_CONN_REFUSEDと出ます。", "ログに異常はありません。"),
]
FOLDED: Final = [
    Pair("en", "ＦＵＬＬ ｗｉｄｔｈ", "A full width form.", "A half done job."),
    Pair("en", "error 404", "Ｅｒｒｏｒ ４０４ was shown.", "Nothing was shown."),
    Pair("en", "office file", "The oﬃce keeps each ﬁle.", "The shop keeps each coin."),
    Pair("en", "ﬂoor", "Second floor, left.", "Second gate, right."),
    Pair("en", "№ 5", "Rule No 5 applies.", "Another rule holds."),
    Pair("ja", "ＡＰＩ", "APIの鍵を作る。", "庭の花を切る。"),
    Pair("ja", "ﾙｰﾀｰ", "ルーターを再起動する。", "窓を閉める。"),
    Pair("ja", "ガイド", "ｶﾞｲﾄﾞを読む。", "手紙を書く。"),
]
UNSPACED: Final = [
    Pair("ja", "天気予報", "明日の天気予報を見る。", "明日の会議を休む。"),
    Pair("ja", "設定を変更", "画面の設定を開く。", "駅前の店を開く。"),
    Pair("ja", "東京", "東京の支店が開く。", "大阪の支社が動く。"),
    Pair("ja", "返品の手続き", "返品は七日以内です。", "配達は午前です。"),
    Pair("ja", "Python 入門", "Pythonの入門書を買う。", "料理の本を借りる。"),
    Pair("zh", "数据库", "数据库连接失败。", "图书馆今天休息。"),
    Pair("zh", "北京大学", "他在北京大学读书。", "她去天津看海。"),
    Pair("zh", "退款政策", "退款需要五天。", "快递需要三天。"),
    Pair("zh", "React 组件", "React组件的状态。", "汽车零件的价格。"),
]
GRAMMAR: Final = [
    Pair("en", "to be or not to be", "To be, or not to be.", "Rain fell."),
    Pair("en", "what is it", "It is what it is.", "Rain fell again."),
    Pair("de", "wer mit wem", "Wer geht mit wem?", "Regen fiel."),
    Pair("es", "de lo que no", "No sé de lo que habla.", "Llovió ayer."),
    Pair("en", "party 🎉", "The party begins at eight.", "The train leaves at nine."),
    Pair("en", '"refund policy"', "A refund is due.", "A storm is near."),
    Pair("en", "(alpha AND beta) OR NOT gamma", "Alpha came first.", "Omega came last."),
]
PAIRS: Final = [*UNACCENTED, *INFLECTED, *COMPOUND, *IDENTIFIERS, *FOLDED, *UNSPACED, *GRAMMAR]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Location:
    """Every text as an item of one base."""
    return build(str(tmp_path_factory.mktemp("pairs")), {(SUPPORT, "pairs"): documents()})


def documents() -> list[Document]:
    return [
        document(f"{place}/{name}.txt", text, title="", language=pair.language, kind="plain")
        for place, pair in enumerate(PAIRS)
        for name, text in (("found", pair.found), ("missed", pair.missed))
    ]


def test_there_are_pairs_enough() -> None:
    assert len(set(PAIRS)) == len(PAIRS) >= 60
    assert {pair.language for pair in PAIRS} >= {"en", "es", "pt", "de", "ja", "zh"}


@pytest.mark.parametrize("place", range(len(PAIRS)), ids=[f"{place} {pair.query}" for place, pair in enumerate(PAIRS)])
async def test_words_find_the_one_text_and_not_the_other(published: Location, place: int) -> None:
    pair = PAIRS[place]
    async with open_service(published) as reader:
        answer = await reader.search([SUPPORT], SearchRequest(pair.query, mode="lexical", max_results=MAX_RESULTS))
    found = set(list_paths(answer))
    assert f"{place}/found.txt" in found, f"{pair.query!r} must find {pair.found!r}"
    assert f"{place}/missed.txt" not in found, f"{pair.query!r} must not find {pair.missed!r}"
