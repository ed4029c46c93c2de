"""Pairs of identifiers, versions, dates, addresses, paths, numbers and signs, as in `pairs.py`."""

from __future__ import annotations

from typing import Final

CODE: Final = """
en | std::vector | Prefer std::vector<int> here. | std::victor
en | vector | Prefer std::vector<int> here. | victor
en | a->b | Write a->b to follow it. | a->c
en | ptr->next | Then ptr->next is null. | ptr->nect
en | --flag | Pass --flag to it. | --flak
en | --log-level | Start with --log-level=debug set. | --log-lewel
en | -Xmx512m | Run java -Xmx512m there. | -Xmx513m
en | -rf | Never rm -rf it. | -rg
en | @scope/pkg | Install @scope/pkg there. | @scope/pkh
en | @types/node | Add @types/node to it. | @types/mode
en | $VAR | Echo $VAR there. | $VAT
en | ${HOME} | Path is ${HOME}/bin now. | ${HOMI}
en | $PATH | Add to $PATH now. | $PAHT
en | %s | Use "%s" in printf formats. | %d
en | %d | Prints %d items. | %s
en | [!warning] | > [!warning] Look out. | [!worning]
en | [!NOTE] | > [!NOTE]\n> text | [!NOTA]
de | § 433 BGB | Nach § 433 BGB haftet er. | § 434 BGC
de | §§ 433 | Die §§ 433 ff. BGB gelten. | §§ 434
de | Art. 5 Abs. 1 | Siehe Art. 5 Abs. 1 GG. | Arx. 6 Abx. 2
de | § 823 Abs. 1 BGB | Anspruch aus § 823 Abs. 1 BGB. | § 824 Abz. 2 BGC
en | snake_case_name | call snake_case_name() here | snake_case_nane2
en | case_name | call snake_case_name() here | kase_mane
en | kebab-case | A kebab-case name. | kepab-kase
en | my_module.my_func | Use my_module.my_func() here. | mi_nodule.mi_fumc
en | os.path.join | Call os.path.join(a, b). | os.path.joim
en | path.join | Call os.path.join(a, b). | path.joim
en | App\\\\Models\\\\User | Class App\\\\Models\\\\User holds it. | App\\\\Models\\\\Usar
en | System.Collections.Generic | using System.Collections.Generic; | System.Collections.Genaric
en | java.util.List | import java.util.List; | java.util.Lisp
en | fmt.Println | Call fmt.Println("x"). | fmt.Printlm
en | Foo::Bar::baz | Foo::Bar::baz returns it. | Foo::Bar::bax
en | #include | #include <stdio.h> | #inclube
en | stdio.h | #include <stdio.h> | stdio.c
en | foo.bar() | Call foo.bar() now. | foo.ber()
en | arr[0] | Take arr[0] first. | abr[1]
en | v1.2.3-beta.4 | Shipped v1.2.3-beta.4 then. | v1.2.3-beta.5
en | 1.2.3-beta.4 | Shipped v1.2.3-beta.4 then. | 1.2.3-beta.5
en | 1.2.3 | Shipped v1.2.3-beta.4 then. | 1.2.4
en | 1.2.3+build.5 | Version 1.2.3+build.5 is. | 1.2.3+build.6
en | ^4.17.21 | "lodash": "^4.17.21" | ^4.17.22
en | lodash@4.17.21 | Pin lodash@4.17.21 there. | lodash@4.17.22
en | 4.17.21 | Pin lodash@4.17.21 there. | 4.17.20
en | requests==2.31.0 | pip install requests==2.31.0 | raquests==2.31.1
en | 2.31.0 | pip install requests==2.31.0 | 2.31.1
en | >=3.9 | Python >=3.9 needed. | >=3.8
en | go1.21 | Built with go1.21 today. | go1.22
en | 1.21 | Built with go1.21 today. | 1.22
en | jdk-17.0.2 | Install jdk-17.0.2 here. | jdk-17.0.3
en | JDK 17 | Install jdk-17 here. | JDC 18
en | ES2015 | Target ES2015 output. | ES2016
en | ES6 | Target es6 output. | ES5
en | HTML5 | Plain HTML 5 works. | HTML4
en | Win32 | The Win32 API. | Win64
en | 802.11ac | Supports 802.11ac now. | 802.11ax
en | IEEE 802.11 | IEEE 802.11ac radios. | IEEF 802.12
en | 10/100/1000 | A 10/100/1000 port. | 10/100/1001
en | 2024-W05 | Sprint 2024-W05 begins. | 2024-W06
en | 01/31/2024 | Due 01/31/2024 at noon. | 01/30/2024
en | 31/01/2024 | Due 31/01/2024 at noon. | 30/01/2024
de | 31.1.2024 | Am 31.1.2024 endet es. | 30.1.2024
en | 12:30 | Meet at 12:30pm there. | 12:31
en | 12:30pm | Meet at 12:30 pm there. | 12:31pm
en | 9am | Opens at 9 am daily. | 8am
en | 10:00:00 | At 2024-01-31T10:00:00Z it ends. | 10:00:01
en | 2024-01-31T10:00:00Z | At 2024-01-31T10:00:00Z it ends. | 2024-01-31T10:00:01Z
en | 2024-01-31 | file-2024-01-31.log rotates. | 2024-01-30
en | UTC+2 | Time zone UTC+2 applies. | UTC+3
en | fe80::1 | Ping fe80::1%eth0 there. | fe80::2
en | ::1 | Listen on ::1 only. | ::2
en | 10.0.0.0/8 | Allow 10.0.0.0/8 inside. | 10.0.0.0/9
en | 127.0.0.1 | curl 127.0.0.1:3000/health | 127.0.0.2
en | localhost:3000 | Open http://localhost:3000/health there. | localhost:3001
en | https://example.com/docs/setup | See https://example.com/docs/setup for it. | https://example.com/docs/setuq
en | example.com | See https://example.com/docs/setup for it. | example.con
en | docs.example.com | See https://docs.example.com/a?b=c now. | docs.example.con
en | example.com/docs | See https://example.com/docs/setup for it. | example.com/doks
en | http://10.0.0.5/ | See http://10.0.0.5/ there. | http://10.0.0.6/
en | jane+news@mail.co.uk | Mail jane+news@mail.co.uk please. | jane+mews@mail.co.uk
en | mail.co.uk | Mail jane@mail.co.uk please. | nail.co.uk
en | alice@example.com | [mail](mailto:alice@example.com) | alise@example.com
en | alice@example.com | Write to <alice@example.com>. | alice@example.con
en | alice_b@example.com | Write to alice_b@example.com. | alice_c@example.com
en | report-2024_final.pdf | Open report-2024_final.pdf first. | report-2024_final.pdg
en | README.md | See README.md first. | README.rd
en | archive.tar.gz | Unpack archive.tar.gz now. | archive.tar.bz
en | tar.gz | Unpack archive.tar.gz now. | tar.bz
en | ~/.ssh/config | Edit ~/.ssh/config there. | ~/.ssh/confix
en | .ssh/config | Edit ~/.ssh/config there. | .ssh/confix
en | ../lib/util.js | From ../lib/util.js import. | ../lib/utal.js
en | C:\\Program Files\\App | In C:\\\\Program Files\\\\App folder. | D:\\Brogram Failes\\Apq
en | /usr/local/bin | Copy to /usr/local/bin/tool now. | /usr/local/bim
en | local/bin | Copy to /usr/local/bin/tool now. | lokal/bim
en | /api/v2/users | GET /api/v2/users/{id} answers. | /api/v3/users
en | v2/users | GET /api/v2/users/{id} answers. | v3/users
en | CVE-2023-4863 | See (CVE-2023-4863). | CVE-2023-4864
en | cve-2023-4863 | See CVE‑2023‑4863 there. | cve-2023-4862
en | CWE-79 | A CWE-79 flaw. | CWE-78
en | GHSA-jfh8-c2jp-5v3q | See GHSA-jfh8-c2jp-5v3q now. | GHSA-jfh8-c2jp-5v3r
en | RHSA-2024:0001 | Fixed by RHSA-2024:0001 then. | RHSA-2024:0002
en | MS17-010 | Patch MS17-010 now. | MS17-011
en | ISBN 978-3-16-148410-0 | Book ISBN 978-3-16-148410-0. | ISBM 978-3-16-148410-1
en | 9783161484100 | Book ISBN 978-3-16-148410-0. | 9783161484101
en | 10.1000/xyz123 | doi:10.1000/xyz123 cited. | 10.1000/xyz124
en | 4111 1111 1111 1111 | Card 4111-1111-1111-1111 is a test. | 4112 1112 1112 1112
en | 4111111111111111 | Card 4111 1111 1111 1111 is a test. | 4111111111111112
en | 0800 123 456 | Ring 0800-123456 free. | 0800 123 457
en | +33 1 23 45 67 89 | Tel. +33 (0)1 23 45 67 89 | +33 1 23 45 67 80
en | 030/1234567 | Tel. 030 / 123 45 67 | 030/1234568
en | 0301234567 | Tel. 030 / 123 45 67 | 0301234568
en | 5GHz | The 5 GHz band. | 6GHz
en | 100 Mbit/s | At 100Mbit/s line rate. | 101 Nbit/s
en | 100 Mbps | A 100Mbps line. | 101 Mbps
en | 25 °C | Keep below 25°C there. | 26 °C
en | 25°C | Keep below 25 °C there. | 26°C
en | 30% | About 30 % of them. | 31%
en | 30 % | About 30% of them. | 31 %
en | $100 | It costs $100 now. | $101
en | 100 € | Es kostet 100€ heute. | 101 €
en | €100 | Costs € 100 now. | €101
en | 100 EUR | Costs 100EUR now. | 101 EUR
en | 1.5 million | Over 1.5 million users. | 1.6 milliom
en | 1'000'000 | Sum 1000000 francs. | 1'000'001
en | 1000000 | Sum 1'000'000 francs. | 1000001
fr | 1 000 000 | Somme de 1000000 francs. | 2 001 001
en | 12 345 | Sum 12345 total. | 13 346
de | 1.000.000 | Summe 1000000 Euro. | 1.000.001
en | 3,000.50 | Sum 3000.50 total. | 3,000.51
en | -40 | Down to -40 outside. | -41
en | 1e-6 | Tolerance 1e-6 works. | 1e-7
en | 0.001 | Rate 0.001 works. | 0.002
en | .5 | Use .5 there. | .6
en | 1920x1080 | Screen 1920×1080 px. | 1920x1081
en | 1920×1080 | Screen 1920x1080 px. | 1920×1081
en | 4K | A 4K screen. | 5K
en | iPhone15 | The iPhone 15 case. | iPhone16
en | RTX 4090 | An RTX4090 card. | RTY 4091
en | RTX4090 | An RTX 4090 card. | RTX4091
en | WH-1000XM5 | The WH-1000XM5 set. | WH-1000XM4
en | WH1000XM5 | The WH-1000XM5 set. | WH1000XM4
en | F-150 | A Ford F-150 truck. | F-151
en | B12 | Vitamin B12 levels. | B13
en | B-12 | Vitamin B12 levels. | B-13
en | Win+R | Press Win+R now. | Win+T
en | Ctrl+C | Press Ctrl+C now. | Ctrl+V
en | Ctrl-C | Press Ctrl-C now. | Ktrl-D
en | g++ | Compile with g++ then. | g#
en | C++20 | A C++20 feature. | C++23
en | Notepad++ | Open Notepad++ now. | Notebad++
en | A* | The A* search. | B*
en | Q&A | See Q&A below. | Q&B
en | I/O | Slow I/O there. | I/P
en | CI/CD | A CI/CD pipeline. | CJ/CG
en | TCP/IP | The TCP/IP stack. | TDP/IQ
en | n/a | Value n/a there. | m/o
en | U.S. | Made in the U.S. market. | U.K.
en | USA | Made in the U.S.A. market. | USB
en | Ph.D. | A Ph.D. thesis. | Pf.T.
en | e.g. | Take e.g. this. | i.e.
en | #1234 | Fixes #1234 on main. | #1235
en | GH-1234 | Fixes GH-1234 on main. | GH-1235
en | PR #77 | See PR#77 there. | PT #78
en | !important | color: red !important; | !impartant
en | __init__ | Define __init__ there. | __inix__
en | __init__.py | Add __init__.py there. | __inix__.py
en | _private | Call _private there. | _prifate
en | @Override | Use @Override there. | @Overrite
en | @alice | Ask @alice there. | @alise
en | &mut | Take &mut self. | &nut
en | ${{ secrets.GITHUB_TOKEN }} | Use ${{ secrets.GITHUB_TOKEN }} there. | ${{ sekrets.GITHUB_TOKEM }}
en | {{ page.title }} | Print {{ page.title }} there. | {{ page.tidle }}
en | SELECT * FROM users | Run SELECT * FROM users; | SELEKT * FRON usurs
en | utf8mb4_unicode_ci | Collate utf8mb4_unicode_ci now. | utf8mb4_unikode_ci
en | utf8mb4 | Collate utf8mb4_unicode_ci now. | utf8mb3
en | HTTP 404 | It gives HTTP404 back. | HTTQ 405
en | 404 | It gives HTTP404 back. | 405
en | HTTP/404 | It gives HTTP 404 back. | HTTP/405
en | 127.0.0.1:5432 | Error: connect ECONNREFUSED 127.0.0.1:5432 | 127.0.0.1:5433
en | 5432 | Error: connect ECONNREFUSED 127.0.0.1:5432 | 5433
en | TS2345 | error TS2345: Argument | TS2346
en | parseHTML2Text | Call parseHTML2Text there. | parseHTML3Text
en | iOS | For iOS only. | iUS
en | s3://my-bucket/key.txt | At s3://my-bucket/key.txt there. | s3://my-bucket/key.txd
en | my-bucket | At s3://my-bucket/key.txt there. | ny-pucket
en | key.txt | At s3://my-bucket/key.txt there. | key.txd
en | 123456789012 | Role arn:aws:iam::123456789012:role/Admin set. | 123456789013
en | role/Admin | Role arn:aws:iam::123456789012:role/Admin set. | rola/Atmin
en | i-0abcd1234ef567890 | Stop i-0abcd1234ef567890 now. | i-0abcd1234ef567891
en | sha256:9f86d081 | Pull img@sha256:9f86d081 now. | sha256:9f86d082
en | git@github.com:acme/app.git | Clone git@github.com:acme/app.git now. | git@github.com:acme/apq.git
en | acme/app | Clone git@github.com:acme/app.git now. | akme/apb
en | ghcr.io/acme/app:1.4.2 | Pull ghcr.io/acme/app:1.4.2 now. | ghcr.io/acme/app:1.4.3
en | app:1.4.2 | Pull ghcr.io/acme/app:1.4.2 now. | app:1.4.3
en | 1.4.2 | Pull ghcr.io/acme/app:1.4.2 now. | 1.4.3
en | nginx:1.25-alpine | image: nginx:1.25-alpine | nginx:1.26-alpine
en | postgres://db:5432/app | Set postgres://db:5432/app there. | postgres://db:5433/app
en | 2.3 | See Table 2.3 there. | 3.2
en | Table 2.3 | See Table 2.3 there. | Taple 2.4
en | 3 | Item 1.2.3 there. | 4
en | 4.2(b) | Clause 4.2(b) says. | 4.3(c)
"""
