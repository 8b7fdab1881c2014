"""Pages whose text layer is no text are named with what helps, and not searched; sound pages of any language stay."""

import string
from functools import partial
from pathlib import Path

import pymupdf
import pytest
from click.testing import CliRunner

from lib.__main__ import commands
from lib.archive.ask import Archive
from lib.archive.index import ArchiveIndex
from lib.archive.search_data import search_data
from lib.archive.untrusted import page_ranges, trusted
from lib.data.pages import read_filing
from lib.text.characters import unaccented
from lib.text.legible import GARBLED, UNMAPPED, why_illegible
from tests.archive.conftest import PROFILE
from tests.conftest import write_lines, write_pdf

COVER = """FORM 20-F
For the fiscal year ended January 28, 2024
{}
(Exact name of registrant as specified in its charter)"""
PROSE = """The company makes and sells goods through its own stores.
Our fiscal 2023 is the 52 weeks ended January 28, 2024."""
#: A table as a text layer has it: a cell a line.
INCOME = """CONSOLIDATED STATEMENTS OF INCOME|(in millions)
2023|2022
Revenue|4,210|3,980
Cost of sales|(2,105)|(2,010)
Gross profit|2,105|1,970
Operating income|640|602
Income tax expense|(130)|(122)
Net income|310|290""".replace("|", "\n")
GERMAN = """Der Konzernumsatz stieg im Geschäftsjahr 2022 um 4,2 Prozent auf 12,3 Mrd. €. Das Ergebnis vor Zinsen
und Steuern belief sich auf 1.120 Mio. €; die Ausschüttungsquote beträgt 40 Prozent des Jahresüberschusses."""
FRENCH = """Le chiffre d'affaires consolidé s'établit à 4 210 millions d'euros, en hausse de 5,8 % à taux de change
constants. Le résultat opérationnel courant atteint 640 millions d'euros, et le bénéfice net part du groupe 310."""
SOUND = {
    "German": GERMAN,
    "French": FRENCH,
    "Polish": "Zysk netto przypadający akcjonariuszom jednostki dominującej wzrósł, a zadłużenie netto spadło.",
    "Russian": "Выручка компании выросла на 5,8 процента и составила 4 210 миллионов рублей, чистая прибыль 310.",
    "Japanese": "売上高は前年同期比5.8%増の4,210百万円となり、営業利益は640百万円、当期純利益は310百万円となりました。",
    "a table": INCOME,
    "figures": "4,210 3,980\n" * 40,
    "tickers": "PCG-PA PCG-PB PCG-PC PCG-PD PCG-PE PCG-PG PCG-PH PCG-PI NYSE LLC HLBV GILTI SOFR LIBOR PFBS PFHxS",
    "Roman numerals": "(ii) (iii) (iv) (vi) (vii) (viii) (ix) (xi) (xii) (xiii) (xiv) (xv) (xvi) (xvii) (xviii) (xix)",
    "basis points": "\n".join(f"{n}bps (8bps) 4.2% 12,107bps" for n in range(40)),
    "bullets": "\n".join(f"\uf0b7 {line}" for line in PROSE.split()),
    "circled letters": "Ⓐ Ⓑ Ⅷ ª",
    "links": "https://www.sec.gov/ix?doc=/Archives/edgar/data/xzqjk_wvtr.htm bkzq@xvqwk.com us-gaap_QxzVbkt",
}


def moved(text: str, by: int) -> str:
    """Each printable character of a text as the one ``by`` places further, as glyphs' numbers read for characters."""
    return "".join(chr((ord(one) - 33 + by) % 94 + 33) if "!" <= one <= "~" else one for one in text)


def rotated(text: str) -> str:
    """Each letter of a text as the one 11 places further."""
    letters = string.ascii_lowercase
    ahead = letters[11:] + letters[:11]
    return text.translate(str.maketrans(letters + letters.upper(), ahead + ahead.upper()))


@pytest.mark.parametrize("name", SOUND)
def test_sound_text_is_trusted(name):
    assert why_illegible(SOUND[name]) == ""


@pytest.mark.parametrize("text", [INCOME, f"{PROSE} Competition is strong in all regions.", GERMAN, FRENCH])
@pytest.mark.parametrize("cipher", [rotated, *(partial(moved, by=by) for by in (-29, 1, 3, 61))])
def test_letters_that_decode_to_other_letters_are_found(text, cipher):
    assert why_illegible(cipher(text)) == GARBLED


@pytest.mark.parametrize("mark", ["\ufffd", "\uf043", "\x04", "(cid:12)"])
def test_characters_without_a_meaning_are_found_where_they_are_many(mark):
    assert why_illegible(INCOME.replace("e", mark)) == UNMAPPED
    assert why_illegible(f"Notes {mark * 4}") == ""
    assert why_illegible(PROSE * 20 + mark * 20) == ""


def test_pages_are_named_by_their_numbers():
    assert page_ranges([0, 3, 4, 5, 6, 8, 9]) == "pages 0, 3 to 6, 8 and 9 (first page is page 0)"
    many = "pages 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 18 more"
    assert page_ranges(range(0, 60, 2)) == f"{many} (first page is page 0)"


def test_a_garbled_page_is_blank_and_so_is_a_title_in_its_font_on_a_page_that_stays(tmp_path):
    title = rotated("NORVANE STORES INCORPORATED")
    texts, (message,) = trusted(tmp_path / "A B.pdf", tmp_path, [COVER.format(title), PROSE, rotated(INCOME)])
    assert texts == [COVER.format(""), PROSE, ""]
    assert message.startswith("A B.pdf: page 2 (first page is page 0): letters that spell no words")
    assert message.endswith("ocrmypdf --force-ocr 'A B.pdf' 'A B.pdf'")
    untouched = [COVER.format("PFHxS PFBA"), PROSE]
    assert trusted(tmp_path / "A.pdf", tmp_path, untouched) == (untouched, [])
    _, (message,) = trusted(tmp_path / "A.jsonl", tmp_path, [PROSE, rotated(INCOME)])
    assert message.endswith("give them text")


def test_pages_that_are_pictures_are_named_beside_those_that_are_blank(tmp_path):
    path = write_pdf(tmp_path / "A.pdf", PROSE, "", "")
    with pymupdf.open(path) as pdf:
        pdf[1].insert_image(pdf[1].rect, pixmap=pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 40), False))
        pdf.saveIncr()
    texts, (message,) = trusted(path, tmp_path, read_filing(path, tmp_path)[0])
    assert texts[1:] == ["", ""]
    assert "2 of 3 pages have no text: pages 1 and 2" in message
    assert "page 1 (first page is page 0) shows images; recognise them (OCR)" in message


def with_files(path: Path, *names: str, is_portfolio: bool = True) -> Path:
    """A PDF that holds files, as the cover of a portfolio or as attachments."""
    write_pdf(path, PROSE)
    with pymupdf.open(path) as pdf:
        for name in names:
            pdf.embfile_add(name, b"content")
        if is_portfolio:
            pdf.xref_set_key(pdf.pdf_catalog(), "Collection", "<</View/D>>")
        pdf.saveIncr()
    return path


XFA = "Please wait...\nIf this message is not eventually replaced by the proper contents of the document, your viewer"
FIVE = ["notes.xlsx", "A.PDF", "B.pdf", "C.pdf", "D.pdf"]
NO_FILINGS = {
    "portfolio, a cover of NORVANE_2023_10K.pdf;": lambda path: with_files(path, "NORVANE_2023_10K.pdf"),
    "a cover of A.PDF, B.pdf, C.pdf and 2 more;": lambda path: with_files(path, *FIVE),
    "XFA form": lambda path: write_pdf(path, XFA),
}


@pytest.mark.parametrize(("words", "make"), NO_FILINGS.items(), ids=NO_FILINGS)
def test_a_pdf_whose_text_is_another_program_s_or_in_other_files_is_named(tmp_path, words, make):
    texts, (message,) = read_filing(make(tmp_path / "X.pdf"), tmp_path)
    assert texts == []
    assert message.startswith("X.pdf: ")
    assert words in message


def test_an_attachment_alone_makes_no_portfolio(tmp_path):
    path = with_files(tmp_path / "A.pdf", "data.xml", is_portfolio=False)
    assert read_filing(path, tmp_path)[1] == []


@pytest.fixture(scope="module")
def indexed(tmp_path_factory):
    """The index of filings with ligatures, accents, garbled pages."""
    root, to = tmp_path_factory.mktemp("odd"), tmp_path_factory.mktemp("index") / "index"
    (root / "pages").mkdir()
    lines = INCOME.replace("profit", "pro\ufb01t").replace("Cost of sales", "O\ufb03ce supplies").replace("(", "\u2212")
    filings = {
        "nrv-20240128": [COVER.format("NESTELÉ SA"), PROSE, lines.replace("Revenue", "Entrées")],
        "OSTRELL_2023_10K": [COVER.format("OSTRELL MILLS INC").replace("20-F", "10-K"), PROSE, rotated(INCOME)],
        "BAD": [rotated(INCOME), rotated(INCOME)],
    }
    for name, texts in filings.items():
        pages = [{"doc_name": name, "page": page, "text": text} for page, text in enumerate(texts)]
        write_lines(root / "pages" / f"{name}.jsonl", pages)
    done = CliRunner().invoke(commands, ["index", "--dataset", str(root), "--to", str(to)])
    assert done.exit_code == 0, done.output
    assert "left out: pages/BAD.jsonl" in done.stderr
    return ArchiveIndex(to, PROFILE, root)


def test_a_garbled_filing_is_left_out_a_page_is_blank_and_ligatures_and_signs_are_plain(indexed):
    assert indexed.names() == ["OSTRELL_2023_10K", "nrv-20240128"]
    assert "letters that spell no words" in indexed.record("BAD")["problem"]
    pages = indexed.pages(indexed.names()).set_index(["doc_name", "page"])["text"]
    assert pages["OSTRELL_2023_10K", 2] == ""
    assert all(words in pages["nrv-20240128", 2] for words in ("Office supplies", "Gross profit", "-2,105"))


@pytest.mark.parametrize("word", ["entrees", "entrées", "ENTRÉES", "profit", "office"])
def test_words_have_a_score_with_and_without_marks_and_ligatures(indexed, word):
    pages, bm25, _ = search_data(indexed, indexed.names())
    found = pages[bm25.get_scores(bm25.tokens(unaccented(word))) > 0]
    assert found.to_numpy().tolist() == [["nrv-20240128", 2]]


def test_a_filing_has_its_printed_form_and_its_own_fiscal_year(indexed):
    assert indexed.record("nrv-20240128")["fiscal_years"] == {"2024-01-28": 2023}
    with Archive(indexed) as archive:
        best = archive.ask("profit of Nestele", k=1).iloc[0]
        found = archive.answer("What was Nestele's revenue in fiscal 2023?", k=1)
        assert [filing.header for filing in archive.filings] == ["OSTRELL MILLS INC 2023 10-K", "NESTELÉ SA 2023 20-F"]
    assert (best["doc_name"], best["page"]) == ("nrv-20240128", 2)
    assert (found["pages"][0]["filing"], found["pages"][0]["fits"]) == ("NESTELÉ SA 2023 20-F", "company and year")
