"""Pairs of characters, marks and markup in many scripts, as in `pairs.py`."""

from __future__ import annotations

from typing import Final

CHARACTERS: Final = """
de | Donaudampfschiff | Das Donau\u00addampf\u00adschiff fährt. | Dolautampfschiff
en | database | The data\u200bbase is up. | detabase
en | database | The data\u2060base is up. | detabase
en | database | The \ufeffdatabase is up. | detabase
fa | میخواهم | من می\u200cخواهم بروم | نیخوانم
en | ＲＵＬＥ－Ａ００２ | Silence RULE-A002 here. | ＲＵＬＥ－Ａ００３
en | RULE-A002 | Silence ＲＵＬＥ－Ａ００２ here. | RULE-A003
ja | 人 | ⼈が来る。 | 犬
ja | 水道 | ⽔道の料金 | 電気
ja | 見る | ⾒る人 | 聞く
en | Sorensen | Mr Sørensen wrote. | Sorenson
da | Sørensen | Mr Sorensen wrote. | Sørenson
pl | Łukasz | Pan Lukasz pisze. | Łukosz
pl | lukasz | Pan Łukasz pisze. | lukosz
fr | cœur | Le coeur bat. | cœux
fr | coeur | Le cœur bat. | coeux
fr | sœurs | Mes soeurs arrivent. | sœuls
da | æble | Et aeble her. | æbre
da | aeble | Et æble her. | aebre
de | Strasse | Die Straße endet. | Stresse
de | STRASSE | Die Straße endet. | STRESSE
de | Straße | Die Strasse endet. | Streße
hr | Đorđe | Dorde je tu. | Đorte
tr | ılık | ilik su | ırık
tr | diyarbakir | Diyarbakır güzel. | diyarpakir
is | Þór | Thor kom. | Þír
en | flow | A ﬂow chart. | glow
en | fi | ﬁ stands. | fu
en | affine | An aﬃne map. | offine
en | stuff | Some stuﬀ here. | stuft
nl | ĳs | Een ijs hier. | ĳk
en | my_var | Use my\\_var here. | mu_vat
en | *args | Use \\*args here. | *argz
en | [link] | A \\[link\\] here. | [lint]
en | AT&T | AT&#38;T line. | AT&U
en | AT&T | AT&#x26;T line. | AT&V
fr | été | L&#233;t&eacute; et l'&eacute;t&eacute;. | ébé
de | über | &Uuml;ber den Wolken | ober
es | niño | El ni&ntilde;o come. | nico
en | copyright | Copy&shy;right holds. | copyrihgt
en | a b | a&nbsp;b here | q z
en | x | Value &lt;x&gt; here. | y
en | H2SO4 | Acid H<sub>2</sub>SO<sub>4</sub> burns. | H2SO5
en | superstar | A <b>super</b>star sings. | suparstir
en | Enter | Press <kbd>Enter</kbd> now. | Ender
en | word | A <span class="x">word</span> here. | work
en | line | One<br>line here. | lime
en | One | One<br/>line here. | Ore
en | two | <td>one</td><td>two</td> | tuo
en | photosynthesis | About photo-\nsynthesis here. | fotosynthesit
en | photosynthesis | About photo-\n  synthesis here. | fotosynthesit
en | photosynthesis | About photo\u00ad\nsynthesis here. | fotosynthesit
en | photosynthesis | > About photo-\n> synthesis here. | fotosynthesit
en | photosynthesis | About photo‐\nsynthesis here. | fotosynthesit
en | état | L'e\u0301tat est. | ébat
fr | état | L’état est moi. | ébat
ca | intel·ligència | La intel·ligència aquí. | intal·ligincia
hi | विद्यालय | यह विद्यालय है। | विद्यार्थी
hi | ज़मीन | यह ज़मीन है। | ज़मान
hi | जमीन | यह ज़मीन है। | जमान
hi | लड़का | लड़का खेलता है। | लड़ाई
th | กรุงเทพ | เขาอยู่กรุงเทพมหานคร | เชียงใหม่
th | น้ำ | ดื่มน้ำทุกวัน | ไฟ
th | ประเทศไทย | ในประเทศไทยมีคนมาก | ญี่ปุ่น
th | API | เรียกใช้APIนี้ | APO
ar | محمد | قال مُحَمَّد ذلك | محمر
ar | الكتاب | قرأت الكِتابَ أمس | الكتيب
ar | كتاب | كـــتاب كبير | كباب
ar | أحمد | جاء احمد أمس | أحمر
ar | ١٢٣ | رقم 123 هنا | ١٢٤
fa | ۱۲۳ | شماره 123 اینجا | ۱۲۴
hi | १२३ | नंबर 123 यहाँ | १२४
he | תורה | קראתי תּוֹרָה היום | תורת
ko | 한국어 | 한국어를 배운다. | 중국인
ko | 컴퓨터 | 컴퓨터가 느리다. | 냉장고
ko | 설치 | 프로그램설치방법 | 제거
ko | 한글 | 한글 문서 | 영문
ko | API | API를 호출한다. | APO
km | ភ្នំពេញ | នៅភ្នំពេញ | សៀមរាប
lo | ວຽງຈັນ | ຢູ່ວຽງຈັນ | ປາກເຊ
my | ရန်ကုန် | ရန်ကုန်မြို့ | မန္တလေး
bo | བོད་ཡིག | བོད་ཡིག་གི་དེབ | རྒྱ་ནག
bo | བོད | བོད་ཡིག་གི་དེབ | རྒྱ
ja | サーバー | サーバーを起動 | メモリ
ja | サーバ | サーバーを起動 | カメラ
ja | ﾃﾞｰﾀ | データの保存 | ﾋﾞｰﾙ
ja | データ | ﾃﾞｰﾀの保存 | ビール
ja | ヴァイオリン | ヴァイオリンを弾く | ギター
ja | １２３ | 番号は123です | １２４
ja | Ｗｉ－Ｆｉ | Wi-Fiの設定 | Ｗｅ－Ｆａ
ja | S3 | S3バケットを作る | S4
ja | v2.3.1 | バージョンv2.3.1を使う | v2.3.2
ja | 2024年 | 2024年に始まる | 2025季
ja | 令和5年 | 令和5年の予算 | 平成6季
ja | ㈱ | 株式会社ではなく㈱と書く | 有
ja | ㎏ | 5kgの荷物は重い、kgで量る | ㎜
zh | 臺灣 | 臺灣的天氣 | 香港
zh | 微信 | 使用微信支付 | 支票
zh | GB/T 7714 | 见 GB/T 7714 标准 | GC/D 7715
ru | Ёлка | зимняя ёлка | Полка
ru | елка | зимняя ЁЛКА | палка
ru | ГОСТ 12345 | по ГОСТ 12345-81 | РОСТ 12346
ru | ГОСТ-12345 | по ГОСТ 12345-81 | ГОСТ-12346
uk | Київ | Місто Київ велике. | Кийв
uk | їжа | Смачна їжа тут. | їка
bg | България | В България е топло. | Бългерин
sr | ђак | Добар ђак учи. | рак
el | Αθήνα | στην Αθηνα σήμερα | Αθήκα
el | ὁδός | η οδός είναι μακριά | ὁρός
ka | თბილისი | ქალაქი თბილისი აქ | ბათუმი
ka | ᲗᲑᲘᲚᲘᲡᲘ | ქალაქი თბილისი აქ | ᲑᲐᲗᲣᲛᲘ
hy | Երևան | Երևան քաղաք | Երեկան
vi | Việt Nam | Tại Viet Nam hôm nay | Viất Nắk
vi | đường | Con duong dài. | đượcg
vi | phở | Tôi ăn pho hôm nay | phủ
cs | žluťoučký | Příliš žluťoučký kůň. | žlutoučný
sk | ľudia | Dobrí ľudia sú. | ľubia
hu | őszi | Az őszi szél. | ősci
ro | şi | mere și pere | şu
lt | ąžuolas | Senas ąžuolas auga. | ąžualis
lv | ģimene | Liela ģimene dzīvo. | ģimone
mt | ħobża | Kiel ħobża illum. | ħobta
eo | ĉevalo | Granda ĉevalo kuras. | ĉevado
cy | dŵr | Mae dŵr yma. | dŵs
haw | ʻāina | Ka ʻāina nani. | ʻāira
yo | ọmọ | Awọn ọmọ nla. | ọkọ
bn | বাংলাদেশ | আমি বাংলাদেশ থেকে। | ভারত
ta | தமிழ்நாடு | இது தமிழ்நாடு ஆகும். | கேரளா
te | తెలుగు | నా తెలుగు భాష. | కన్నడ
ml | കേരളം | എന്റെ കേരളം. | തമിഴ്
si | ශ්\u200dරී | ශ්\u200dරී ලංකාව | මහා
am | ኢትዮጵያ | የእኔ ኢትዮጵያ ናት። | ኬንያ
ti | ሰላም | ኩሉ ሰላም እዩ። | ሰሎም
en | Bjork | By Björk alone. | Bjark
en | Zurich | In Zürich today. | Zorich
de | Zürich | In ZÜRICH heute. | Zörich
de | Äpfel | Rote A\u0308pfel hier. | Öpfel
en | piñata | A pin\u0303ata hangs. | pirata
en | ℌello | Say Hello now. | ℌallo
en | 𝐛𝐨𝐥𝐝 | Some bold text. | 𝐜𝐨𝐥𝐝
en | ①②③ | Number 123 here. | ①②④
en | Ⅳ | Part IV begins. | Ⅵ
en | x² | The x2 term. | x³
en | ™ | Acme TM brand. | ℠
en | µm | Some 5 μm wide, in μm. | nm
en | 5µm | Some 5 μm wide. | 6µm
en | Ω | A 5 Ω part. | Ψ
en | naïveté | Her naivete shows. | naïvetu
en | rock ‘n’ roll | A rock 'n' roll band. | rack ‘m’ rell
en | don’t | They don't go. | dan’k
en | foo–bar | A foo-bar thing. | fuu–ber
en | 1990–1995 | From 1990-1995 on. | 1990–1996
en | −5 | At -5 outside. | −6
en | …and | So …and then. | …ant
en | **bold** | A **bold** word. | **bald**
en | `code` | A `code` span. | `cobe`
en | ~~old~~ | An ~~old~~ way. | ~~odd~~
en | word | A [word](http://x.y/z) link. | worn
en | emoji | An emoji😀 here. | emoja
"""
