"""Pairs of a query and a text that it must find by words alone, each with a query one edit away that must not.

A line is `language | query | text | near miss`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tests.knowledge.search.words import pairs_of_characters, pairs_of_code


class Pair(NamedTuple):
    """A text of a language, a query that finds it, and one that does not."""

    language: str
    query: str
    text: str
    near_miss: str


_IDENTIFIERS: Final = """
en | A002 | Silence RULE-A002 in this file. | A003
en | RULE-A002 | Silence RULE-A002 in this file. | RULE-A012
en | NODE_ENV | It reads process.env.NODE_ENV first. | NODE_ENT
en | process.env.NODE_ENV | It reads process.env.NODE_ENV first. | process.env.NODE_EN
en | CVE-2021-45046 | Fixes CVE-2021-44228/CVE-2021-45046 at once. | CVE-2021-45047
en | CVE-2021-44228 | Fixes CVE-2021-44228/CVE-2021-45046 at once. | CVE-2021-44229
en | 2021-45046 | Fixes CVE-2021-44228/CVE-2021-45046 at once. | 2021-45045
en | S3 | Name the S3-Bucket in lower case. | S4
en | EC2 | EC2's limits differ by region. | EC3
en | EC2's | An EC2 machine in Dublin. | EC4's
de | COVID-19 | Die COVID-19-Impfung ist gratis. | COVID-18
de | COVID-19-Impfung | Die COVID-19-Impfung ist gratis. | COVID-16-Impfung
de | COVID-19-Impfung | Eine Impfung gegen COVID-19. | COVID-18-Impfung
en | COVID19 | After COVID-19 many work at home. | COVID17
en | python3.11 | Needs Python 3.11 or later. | python3.12
en | python3.11 | The image python:3.11-slim is small. | python3.10
en | Python3 | Written for Python 3 alone. | Python2
en | k8s | Deploy it on K8s nodes. | k9s
en | i18n | Notes on i18n and fonts. | i19n
en | x86_64 | Builds for x86_64 only. | x86_65
en | sha256 | Compare the SHA-256 digest. | sha512
en | SHA-256 | The sha256 of the file. | SHA-255
en | UTF-8 | Save it as utf8 text. | UTF-7
en | utf8 | Encoded in UTF-8. | utf9
en | ISO-8601 | Dates follow ISO 8601. | ISO-8602
en | ISO 8601 | Dates follow ISO-8601. | ISO8602
en | RFC7231 | See RFC 7231 for methods. | RFC7232
en | RFC 7231 | See RFC7231 for methods. | RFC7233
en | HTTP/2 | Serve over http2. | HTTP/3
en | HTTP/1.1 | An HTTP/1.1 answer. | HTTP/1.0
en | TLS1.3 | Requires TLS 1.3 now. | TLS1.2
en | TLSv1.3 | Requires TLSv1.3 now. | TLSv1.2
en | ERR_CONN_REFUSED | The log says ERR_CONN_REFUSED. | ERR_CONN_REFUSEL
en | err_conn_refused | It logs ERR_CONN_REFUSED twice. | err_conn_refuseds2
en | E0308 | error[E0308]: mismatched types | E0309
en | ORA-00942 | ORA-00942: table does not exist | ORA-00943
en | 0x80070005 | Error 0x80070005 on update. | 0x80070006
en | KB5005565 | Install KB5005565 by hand. | KB5005566
en | JIRA-1234 | Closed by JIRA-1234 today. | JIRA-1235
en | PROJ-77 | As PROJ-77/PROJ-78 say. | PROJ-76
en | SKU-48213 | Part SKU-48213-B is sold out. | SKU-48214
en | 48213 | Part SKU-48213-B is sold out. | 48214
en | IPv6 | Turn on IPv6 first. | IPv4
en | H2O | Bottles of H2O. | H3O
en | MP3 | Save as .mp3 or .wav | MP4
en | 7z | Unpack the .7z archive. | 8z
en | arm64-v8a | Native code for arm64-v8a. | arm64-v7a
en | gpt-4o | The model gpt-4o answers. | gpt-5o
en | us-east-1 | Runs in us-east-1 alone. | us-east-2
en | us-east-1a | The zone us-east-1a is full. | us-east-1b
en | m5.large | One m5.large is enough. | m6.large
en | 550e8400-e29b-41d4-a716-446655440000 | 550e8400-e29b-41d4-a716-446655440000. | 550e8400-e29b-41d4-a716-446655440001
en | 9f86d081884c7d659a2f | The digest is 9f86d081884c7d659a2f now. | 9f86d081884c7d659a2e
en | 3fa2b1c | Reverts commit 3fa2b1c on main. | 3fa2b1d
en | alice@example.com | Write to alice@example.com please. | alice@example.org
en | bob.smith@mail.example.org | Ask bob.smith@mail.example.org about it. | rob.smith@mail.example.org
en | 10.20.0.7 | Open http://10.20.0.7:8080/admin there. | 10.20.0.8
en | 10.20.0.7:8080 | Open http://10.20.0.7:8080/admin there. | 10.20.0.7:8081
en | 192.168.0.1 | The router is at 192.168.0.1/24. | 192.168.0.2
en | 2001:db8::1 | The host 2001:db8::1 answers. | 2001:db8::2
en | 00:1B:44:11:3A:B7 | Its address is 00:1B:44:11:3A:B7. | 00:1B:44:11:3A:B8
en | main.py | The entry is src/app/main.py here. | main.rs
en | src/app/main.py | The entry is src/app/main.py here. | src/app/main.pl
en | app/main.py | The entry is src/app/main.py here. | app/mail.py
en | /etc/nginx/nginx.conf | Edit /etc/nginx/nginx.conf now. | /etc/nginx/nginx.cond
en | nginx.conf | Edit /etc/nginx/nginx.conf now. | nginx.cong
en | docker-compose.yml | Change docker-compose.yml first. | docker-compose.yaml
en | package.json | See web/package.json for scripts. | package.jsom
en | C:\\Windows\\System32 | Files in C:\\Windows\\System32 stay. | C:\\Windows\\System64
en | .env | Put keys into .env and leave. | .end
en | .NET | Runs on .NET only. | .NEW
en | C++ | Ported from C++ last year. | C#
en | C# | A C# library. | C++
en | F# | Written in F#. | G#
en | C++11 | Uses C++11 features. | C++14
en | C++17 | From C++ 11 to C++17. | C++20
en | Objective-C | Old Objective-C code. | Objektive
en | std::vector | Use std::vector here. | stt::vektor
en | useState | Call useState() first. | usaStade
en | setusername | call setUserName first | setusernaxa
en | XMLHttpRequest | An XMLHttpRequest was blocked. | XNLHttqRequess
en | getHTTPResponseCode | Call getHTTPResponseCode() now. | gatHTTTPRaspunsCodox
en | parse_url | Use parse_url for this. | qarse_uri
en | --no-cache | Run it with --no-cache set. | --no_kache2
en | --dry-run | Try --dry-run before. | --drx-rvn
en | @angular/core | Import from @angular/core here. | @angulas/kore
en | $HOME | Below $HOME is a folder. | $HOMF
en | §433 | Laut § 433 BGB zahlt er. | §434
de | § 433 BGB | Laut §433 BGB zahlt er. | §432
de | § 34 BDSG | Das Recht aus § 34 BDSG. | § 35 BDSH
de | Art. 15 DSGVO | Nach Art. 15 DSGVO. | Arx. 16 DSGWO
en | AT&T | A line from AT&T here. | AT&S
en | R&D | The R&D team. | R&E
en | wifi | The Wi-Fi is open. | wafi
en | e-mail | Send an email. | e-nail
en | node.js | We run NodeJS in production. | node.ts
en | NodeJS | We run node.js in production. | NodyTX
en | Next.js | A Next.js page. | Text.js
en | APIs | One API for all. | APUs
en | API | The APIs differ. | APO
en | URLs | Each URL is checked. | URNs
en | OAuth2 | Sign in by OAuth 2. | OAuth1
en | OAuth 2.0 | OAuth2.0 sign-in. | OAutthh 3.0
en | v2.3.1 | Released as v2.3.1 in spring. | v2.3.2
en | 2.3.1 | Released as v2.3.1 in spring. | 2.4.1
en | v2.3 | Released as v2.3.1 in spring. | v2.4
en | release-2.3.1 | The tag release-2.3.1 moved. | release-2.3.2
en | 3.11 | The image python:3.11-slim is small. | 3.12
en | 3.11.7 | Tested with Python 3.11.7 alone. | 3.11.8
en | 1.1 | Speaks HTTP/1.1 only. | 2.1
en | 2.1 | Release 2.1.1 is out. | 1.1
en | 1.0.0-rc.1 | Tagged 1.0.0-rc.1 today. | 1.0.0-rc.2
en | 18.04 | On Ubuntu-18.04 only. | 18.05
en | Ubuntu 22.04 | For ubuntu-22.04 hosts. | Ubumtu 22.05
"""

_NUMBERS: Final = """
en | 16GB | It has 16 GB of memory. | 17GB
en | 16 GB | It has 16GB of memory. | 16 MB
en | 16 GB | It has 16 GB of memory. | 15 GB
en | 500mg | Take 500 mg at noon. | 501mg
en | 500 mg | Take 500mg at noon. | 500 ml
en | 2.5 GHz | A core at 2.5GHz. | 2.6 GHz
en | 2.5GHz | A core at 2.5 GHz. | 2.4GHz
de | 3,5 kg | Ein Paket von 3,5kg. | 3,6 kg
de | 3.5 kg | Ein Paket von 3,5 kg. | 3.4 kg
en | 100km | A road of 100 km length. | 101km
en | 90 min | It takes 90min. | 80 min
en | 25000 | It cost 25,000 in all. | 25001
en | 25,000 | It cost 25000 in all. | 25,001
de | 25.000 | Es kostet 25000 insgesamt. | 25.001
de | 25000 | Es kostet 25.000 insgesamt. | 26000
de | 25.000 | Es kostet 25.000 insgesamt. | 24.000
en | 25.000 | It cost 25,000 in all. | 25.003
en | 1,234,567 | All 1234567 rows. | 1,234,568
en | 1234567 | All 1,234,567 rows. | 1234568
en | 1,234.56 | A total of 1234.56 is due. | 1,234.57
de | 1.234,56 | Summe 1234.56 offen. | 1.234,57
en | 17:00 | Open 8:00-17:00 daily. | 17:01
en | 8:00 | Open 8:00-17:00 daily. | 9:00
en | 8:00-17:00 | Open 8:00-17:00 daily. | 8:00-18:00
en | 17:00 | Open 8:00–17:00 daily. | 16:00
en | 10:20 | Starts at 10:20:30 sharp. | 20:30
en | 2024-01-31 | Due on 2024-01-31. | 2024-01-30
en | 2024-01-31 | At 2024-01-31T10:00:00Z it ends. | 2024-02-31
de | 31.01.2024 | Am 31.01.2024 endet es. | 30.01.2024
en | 20240131 | Due on 2024-01-31. | 20240130
en | 2024-01 | Due on 2024-01-31. | 2024-02
en | (030) 123-4567 | Call 030 1234567 now. | (030) 123-4568
en | +1 415-555-2671 | Call +1 (415) 555-2671 now. | +1 415-555-2672
en | 030 123 4567 | Call (030) 123-4567 now. | 030 123 4568
en | +49 30 1234567 | Call +49-30-123-4567 now. | +49 30 1234568
en | 555-2671 | Call 555-2671 now. | 555-2672
en | 4711 | Room 4711, please. | 4712
en | No. 4711 | Water No. 4711 sells. | Nu. 4712
en | 404 | A 404 error. | 405
en | 5xx | Answers 5xx on load. | 4xx
en | 50% | Half is 50% of it. | 51%
en | 1/2 | Take 1/2 spoon. | 1/3
en | 24/7 | Help is there 24/7 now. | 24/6
en | 2 | Chapter 2 begins. | 3
en | 12V | A 12 V plug. | 13V
en | 3x | Try it 3x at most. | 4x
en | 1st | The 1st of May. | 1nd
"""

_CHARACTERS: Final = """
en | BILLING_API_KEY | Set `BILLING\\_API\\_KEY` first. | BILLING_API_KEG
en | max_retries | Set max\\_retries to five. | nax_vetries
en | C# | A C\\# library. | C*
en | CO2 | Less CO<sub>2</sub> in the air. | CO3
en | H2O | A glass of H<sub>2</sub>O. | H2S
en | x2 | The square x<sup>2</sup> grows. | x3
en | important | Very im<b>port</b>ant news. | importand
es | envíos | Los env&iacute;os tardan. | envéas
en | café | The caf&eacute; is open. | cage
en | AT&T | A line of AT&amp;T here. | AT&U
en | don't | Please don&#39;t wait. | dan'p
de | Größe | Die Gr&ouml;&szlig;e passt. | Grüfe
de | Größe | Die Gro\u0308ße passt. | Grötze
en | international | An inter\u00adnational call. | intornational
en | keyboard | A key\u200bboard shortcut. | keybord
en | information | All infor-
mation is here. | infermation
de | Versicherung | Die Versiche-
rung zahlt. | Versocherung
en | well-known | A well-
known place. | wall-knawn
en | co-operate | They co‐operate well. | ca-aperade
en | non-breaking | A non‑breaking hyphen. | nun-brecking
en | twenty-one | Some twenty−one pages. | twemty-ome
en | it's fine | It’s fine today. | xt's fone
en | O'Brien | Mr O’Brien came. | P'Briem
en | rock'n'roll | Old rock’n’roll songs. | rack'm'rolf
en | full width | ＦＵＬＬ ｗｉｄｔｈ form. | fulk wodth
en | API_KEY | The ＡＰＩ＿ＫＥＹ variable. | API_KEZ
en | 123 | Room １２３ upstairs. | 124
en | final | The ﬁnal word. | fimal
en | office | The oﬃce opens. | offise
en | №5 | Rule №5 applies. | №6
ja | 一 | ⼀から始める。 | 二
ja | 金 | ⾦の指輪。 | 銀
ja | ガイド | ｶﾞｲﾄﾞを読む。 | カード
ja | ルーター | ﾙｰﾀｰの設定。 | ロード
ja | 株式会社 | ㈱や㍿ではなく株式会社と書く。 | 有限公司
en | smorrebrod | A Smørrebrød for lunch. | smarrebrad
en | Lodz | The train to Łódź leaves. | Ludz
en | oeuvre | Her œuvre is vast. | aeuvre
en | aether | The æther is gone. | oether
de | strasse | Die Straße ist gesperrt. | strosse
en | dakovo | The town of Đakovo. | dokovo
en | istanbul | From İstanbul by bus. | istunbul
en | naive | A naïve answer. | naove
en | resume | Leave your résumé here. | rezume
es | pinguino | El pingüino vive aquí. | pinguano
es | ano | El año fiscal termina. | ajo
es | accion | La acci\u00f3n empieza. | accien
pt | coracao | O coração bate. | corucao
pt | maca | Comprei uma maçã. | mapa
fr | ecole | Une école ouverte. | ecume
fr | garcon | Le garçon mange. | gargon
fr | l'homme | L’homme marche. | n'hemme
tr | istanbul | ISTANBUL'da yaşar. | istambol
vi | tieng viet | Nói tiếng Việt đi. | thong vuet
en | zero width | Zero\u200d width\ufeff joins. | zaro wilth
en | left right | \u200eleft\u200f \u202bright\u202c marks. | luft reght
"""

_SCRIPTS: Final = """
ru | книга | Новая книга лежит на столе. | кнага
ru | книги | Новая книга лежит на столе. | кнаги
ru | ёлка | Зимой стоит елка во дворе. | полка
uk | мова | Українська мова гарна. | нова
el | βιβλίο | Το βιβλίο είναι νέο. | βιβλεα
el | βιβλιο | Το ΒΙΒΛΊΟ είναι νέο. | βιθλιο
ar | كتاب | هذا كتاب جديد. | كباب
ar | كتاب | هذا كِتَابٌ جديد. | عتاب
ar | مدرسة | في مدرسة كبيرة | مدرثة
fa | کتاب | این کتاب خوب است. | کباب
he | ספר | זה ספר טוב. | כפר
he | שלום | אמרתי שָׁלוֹם לכולם. | שליש
yi | בוך | דאָס בוך איז נײַ. | באך
hi | किताब | यह किताब नई है। | कितान
hi | हिन्दी | मैं हिन्दी बोलता हूँ। | सिन्धी
mr | पुस्तक | हे पुस्तक नवीन आहे. | मस्तक
ne | नेपाल | नेपाल सुन्दर छ। | बेपार
bn | বই | এটি একটি ভালো বই। | ভাই
pa | ਕਿਤਾਬ | ਇਹ ਕਿਤਾਬ ਹੈ। | ਕਬਾਬ
gu | પુસ્તક | આ પુસ્તક છે. | મસ્તક
or | ବହି | ଏହା ଏକ ବହି। | ଦହି
ta | புத்தகம் | இது ஒரு புத்தகம். | மத்தளம்
te | పుస్తకం | ఇది ఒక పుస్తకం. | మస్తకం
kn | ಪುಸ್ತಕ | ಇದು ಪುಸ್ತಕ. | ಮಸ್ತಕ
ml | പുസ്തകം | ഇത് ഒരു പുസ്തകം. | മസ്തകം
si | පොත | මෙය පොත. | කොත
th | หนังสือ | นี่คือหนังสือใหม่ | รองเท้า
lo | ປຶ້ມ | ນີ້ແມ່ນປຶ້ມ | ຊ້າງ
my | စာအုပ် | ဒါက စာအုပ် ဖြစ်သည်။ | ဆင်
km | សៀវភៅ | នេះជាសៀវភៅ | ដំរី
bo | དཔེ་ཆ | འདི་ དཔེ་ཆ རེད། | གླང
ka | წიგნი | ეს წიგნი ახალია. | ხიდი
hy | գիրք | Սա նոր գիրք է։ | կիրք
am | መጽሐፍ | ይህ መጽሐፍ ነው። | መንገድ
ko | 서울 | 서울에서 만나요. | 부산
ko | 날씨 | 오늘날씨가 좋다. | 음식
ko | 데이터베이스 | 데이터베이스를 설치한다. | 운영체제
ja | 東京 | 東京都の天気。 | 大阪
ja | 設定 | 画面の設定を開く。 | 削除
ja | ERR_DISK_FULL | ログにERR_DISK_FULLと出ます。 | ERR_DISK_FUEL
ja | 時々 | 時々雨が降る。 | 毎日
zh | 数据库 | 数据库连接失败。 | 图书馆
zh | 北京 | 他在北京读书。 | 上海
zh | Python3.11 | 需要Python3.11版本。 | Python3.12
mn | ном | Энэ ном шинэ. | том
dv | ފޮތް | މިއީ ފޮތް | ރަށް
chr | ᎪᏪᎵ | ᎯᎠ ᎪᏪᎵ | ᎠᎹ
iu | ᑎᑎᕋᐅᑦ | ᑎᑎᕋᐅᑦ ᓄᑖᖅ | ᐃᒡᓗ
got | 𐌱𐍉𐌺𐌰 | 𐍃𐌰 𐌱𐍉𐌺𐌰 | 𐌷𐌿𐌽𐌳
sv | böcker | Många böcker här. | backer
nl | boeken | Een boek hier. | beeken
fr | livres | Un livre ici. | lovres
it | libri | Ho un libro qui. | lebri
fi | kirja | Uusi kirja tuli. | karja
pl | ksiazka | Nowa książka tutaj. | ksiozka
cs | prilis | Příliš žluťoučký kůň. | prales
hu | könyv | Az új könyv itt. | kenyv
ro | cărți | Noi cărți aici. | carpi
vi | sách | Một quyển sách. | soch
"""

_GRAMMAR: Final = """
en | How do I reach IT? | Reach IT by phone. | How do I reech AT?
en | What does the WHO say | The WHO says: rest. | What does the WHY sey
en | Who is in the US | Offices in the US. | Who is in the UQ
en | What about OR? | The OR is closed. | What can I do about OX?
en | to be or not to be | To be, or not to be. | xx
en | what is it | It is what it is. | zz
de | wer mit wem | Wer geht mit wem? | zzz
es | de lo que no | No sé de lo que habla. | yy
"""


def _read(block: str) -> list[Pair]:
    lines: list[str] = []
    for line in block.strip("\n").split("\n"):
        # A text may have a line break in a word.
        if line.count("|") and (not lines or lines[-1].count(" | ") >= 3):
            lines.append(line)
        elif lines and lines[-1].count(" | ") < 3:
            lines[-1] += "\n" + line
        else:
            lines.append(line)
    return [Pair(*line.split(" | ")) for line in lines]


IDENTIFIERS: Final = _read(_IDENTIFIERS) + _read(pairs_of_code.CODE)
NUMBERS: Final = _read(_NUMBERS)
CHARACTERS: Final = _read(_CHARACTERS) + _read(pairs_of_characters.CHARACTERS)
SCRIPTS: Final = _read(_SCRIPTS)
GRAMMAR: Final = _read(_GRAMMAR)
PAIRS: Final = [*IDENTIFIERS, *NUMBERS, *CHARACTERS, *SCRIPTS, *GRAMMAR]
