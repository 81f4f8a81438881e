"""No text carries a message that its reader cannot see, whichever characters it is written in."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from remit import gate
from remit.gate import Author, HoldReason, Objection, hidden_layout
from remit.model.reply import Deliverable
from tests.tables import text_table

MESSAGE = b"the key is 4471"
HAN = "春眠不覚暁処処聞啼鳥夜来風雨声花落知多少国破山河在城春草木深感時花濺涙恨別鳥驚心"
PERSIAN = "میخواهمکتابهایمرابهکتابخانهببرم" * 6
FACES = [chr(code) for code in range(0x1F600, 0x1F678)]
SIGNS = [
    chr(code) for code in range(0x1F321, 0x1F6F4) if unicodedata.east_asian_width(chr(code)) != "W"
]
# | is where words end; as a rule nothing shows it.
THAI = "".join(text_table(__file__, "thai"))
KHMER = (
    "ខ្ញុំ|ចង់|ទៅ|ផ្សារ|នៅ|ថ្ងៃ|ស្អែក|ព្រោះ|ខ្ញុំ|ត្រូវ|ទិញ|បន្លែ|និង|ផ្លែឈើ|សម្រាប់|គ្រួសារ។ "
    "ម្តាយ|របស់|ខ្ញុំ|និយាយ|ថា|តម្លៃ|ត្រី|ថ្លៃ|ជាង|មុន|ប៉ុន្តែ|នៅ|តែ|ល្អ។ "
    "បន្ទាប់|ពី|នោះ|យើង|នឹង|ទៅ|ផឹក|កាហ្វេ|ជាមួយ|មិត្តភក្តិ|នៅ|ក្បែរ|ស្ថានីយ៍|រថភ្លើង។ "
    "ការ|ប្រជុំ|លើក|ក្រោយ|នឹង|ធ្វើ|នៅ|ថ្ងៃ|ចន្ទ|ម៉ោង|ប្រាំបី|ព្រឹក|នៅ|ការិយាល័យ|ធំ។ "
    "ឯកសារ|ទាំងអស់|នឹង|ត្រូវ|ផ្ញើ|តាម|អ៊ីមែល|មុន|ថ្ងៃ|សុក្រ។ "
    "ប្រសិនបើ|មាន|សំណួរ|អំពី|ថវិកា|សូម|ទាក់ទង|ផ្នែក|ហិរញ្ញវត្ថុ។"
)
LAO = (
    "ຂ້ອຍ|ຢາກ|ໄປ|ຕະຫຼາດ|ມື້|ອື່ນ|ເພາະ|ວ່າ|ຕ້ອງ|ຊື້|ຜັກ|ແລະ|ໝາກໄມ້|ສຳລັບ|ຄອບຄົວ "
    "ແມ່|ຂອງ|ຂ້ອຍ|ເວົ້າ|ວ່າ|ລາຄາ|ປາ|ແພງ|ກວ່າ|ແຕ່|ກ່ອນ|ແຕ່|ກໍ|ຍັງ|ດີ|ຢູ່ "
    "ຫຼັງ|ຈາກ|ນັ້ນ|ພວກ|ເຮົາ|ຈະ|ໄປ|ດື່ມ|ກາເຟ|ກັບ|ໝູ່|ທີ່|ໃກ້|ສະຖານີ|ລົດໄຟ "
    "ການ|ປະຊຸມ|ຄັ້ງ|ຕໍ່|ໄປ|ຈະ|ຈັດ|ຂຶ້ນ|ໃນ|ວັນ|ຈັນ|ເວລາ|ແປດ|ໂມງ|ເຊົ້າ|ທີ່|ຫ້ອງການ|ໃຫຍ່ "
)
BURMESE = (
    "ကျွန်တော်|မနက်ဖြန်|ဈေး|ကို|သွား|ချင်|တယ်။ "
    "အမေ|က|ငါး|ဈေးနှုန်း|ဟာ|အရင်|ထက်|ပို|ကြီး|တယ်|လို့|ပြော|ပါ|တယ်။ "
    "ပြီး|ရင်|သူငယ်ချင်း|တွေ|နဲ့|ဘူတာရုံ|အနား|မှာ|ကော်ဖီ|သောက်|မယ်။ "
    "နောက်|အစည်းအဝေး|ကို|တနင်္လာ|နေ့|မနက်|ရှစ်|နာရီ|မှာ|ရုံး|ကြီး|မှာ|ကျင်းပ|မယ်။ "
    "စာရွက်စာတမ်း|အားလုံး|ကို|သောကြာ|နေ့|မတိုင်ခင်|အီးမေးလ်|နဲ့|ပို့|ပေး|ပါ|မယ်။ "
)
SYLLABLES = ("Winter", "Sommer", "Wasser", "Leder", "Feder")


def _selector(byte: int) -> str:
    return chr(0xFE00 + byte) if byte < 16 else chr(0xE0100 + byte - 16)


def _halves() -> Iterator[int]:
    return (half for byte in MESSAGE for half in divmod(byte, 16))


def _bits() -> Iterator[int]:
    return (byte >> shift & 1 for byte in MESSAGE for shift in range(8))


def _between(letters: Iterable[str], signs: str) -> str:
    """One sign or none behind each letter."""
    return "".join(letter + signs[:bit] for letter, bit in zip(letters, _bits(), strict=False))


def _optional(words: Iterable[str], sign: str, behind: int = 1) -> str:
    """Each word once; the sign behind some of its letters, or not."""
    pairs = zip(words, _bits(), strict=False)
    return " ".join(word[:behind] + sign * bit + word[behind:] for word, bit in pairs)


def _words(letters: Iterable[str], joined: str = "") -> list[str]:
    """More different words than the message has bits."""
    return [f"{a}{joined}{b}{c}" for a in letters for b in letters for c in letters]


def _spelt(letter: str) -> str:
    """The letter in one of its two spellings, behind a number that differs."""
    ways = letter, unicodedata.normalize("NFD", letter)
    return " ".join(f"{n}{ways[bit]}" for n, bit in enumerate(_bits()))


CHANNELS: dict[str, Callable[[], str]] = {
    "a byte behind each ideograph": lambda: "".join(
        han + _selector(byte) for han, byte in zip(HAN, MESSAGE, strict=False)
    ),
    "half a byte behind each ideograph": lambda: "".join(
        han + chr(0xE0100 + half) for han, half in zip(HAN * 2, _halves(), strict=False)
    ),
    "a bit for each ideograph": lambda: _between(HAN * 4, "\U000e0100"),
    "a bit for one ideograph": lambda: _between("葛" * 120, "\U000e0100"),
    "two registered forms of one name": lambda: "".join(
        "邉" + "\U000e0100\U000e0101"[bit] for bit in _bits()
    ),
    "half a byte behind each letter": lambda: "".join(
        "の" + chr(0xFE00 + half % 14) for half in _halves()
    ),
    "old forms of letters that have none": lambda: "".join("א" + "\ufe00" * bit for bit in _bits()),
    "text or picture": lambda: "".join("☺" + "\ufe0e\ufe0f"[bit] for bit in _bits()),
    "selectors behind digits": lambda: _between("0123456789" * 12, "\ufe0f"),
    "selectors behind signs that are no emoji": lambda: _between("→★✓●" * 30, "\ufe0f"),
    "joiners where letters join anyway": lambda: _between(PERSIAN, "\u200d"),
    "two kinds of zero width": lambda: "".join(letter + "\u200c\u200d" for letter in "می" * 10),
    "doubled zero width": lambda: "می\u200c\u200cشود " * 4,
    "joiners behind Hindi letters": lambda: _between("कखगघचछजझ" * 15, "\u200d"),
    "joiners in Hindi conjuncts": lambda: _optional(_words("कतपबमस", "्"), "\u200d", 2),
    "joiners behind Arabic letters that end a link": lambda: "".join(
        f"و{chr(0x200D) * bit} " for bit in _bits()
    ),
    "non-joiners that part nothing": lambda: _optional(_words("دروزاذ"), "\u200c"),
    "joiners between any two faces": lambda: _between("😀" * 121, "\u200d"),
    "joiners between a face and a laptop": lambda: "😀\u200d💻",
    "selectors that an emoji does not need": lambda: _between(FACES, "\ufe0f"),
    "selectors that an emoji may need": lambda: _optional(SIGNS, "\ufe0f"),
    "selectors of keycaps": lambda: "".join("1" + "\ufe0f" * bit + "\u20e3 " for bit in _bits()),
    "a soft hyphen in a word or none": lambda: _optional(_words(SYLLABLES), "\xad", 6),
    "where the soft hyphen stands": lambda: " ".join(
        f"{'Lebensversicherung'[: 2 + half]}\xad{'Lebensversicherung'[2 + half :]}"
        for half in _halves()
    ),
    "a break between two words or none": lambda: "".join(
        word + "\u200b" * bit for word, bit in zip(THAI.split("|"), _bits(), strict=False)
    ),
    "a break between two words or none, in a short text": lambda: "".join(
        word + "\u200b" * bit for word, bit in zip(THAI.split("|")[:100], _bits(), strict=False)
    ),
    "one long word or two short ones": lambda: _optional(
        _words("กขคงจตนบปมรลวส", "า")[:240], "\u200b", 2
    ),
    "the same two words, parted or not": lambda: "".join(
        f"กิน{chr(0x200B) * bit}ข้าว ที่\u200bบ้าน " for bit in _bits()
    ),
    "where the break in a word stands": lambda: " ".join(
        f"{word[: 2 + half % 8]}\u200b{word[2 + half % 8 :]}"
        for word, half in zip(_words("กขคงจฉ", "นมยรลว"), _halves(), strict=False)
    ),
    "a word that stands alone or is a part": lambda: " ".join(
        f"ตลาด{chr(0x200B) * bit}{word}"
        for word, bit in zip(_words("กขคงจ"), _bits(), strict=False)
    ),
    "breaks at the ends of words": lambda: _optional(_words("กขคงจ"), "\u200b", 3),
    "breaks between a name and a word": lambda: _optional(
        [f"Anna{word}" for word in _words("กขคงจ")], "\u200b", 4
    ),
    "a break behind a vowel that stands before its letter": lambda: "เ\u200bก",
    "Mongolian forms": lambda: _optional(_words("ᠠᠨᠬᠭᠰᠶ"), "\u180b"),
    "Mongolian forms that do not exist": lambda: "ᠮ\u180b",
    "direction marks behind words": lambda: _between(["שלום! "] * 120, "\u200f"),
    "spaces that do not break": lambda: "".join("ab" + " \xa0"[bit] for bit in _bits()),
    "one of two special spaces": lambda: "".join("ab" + "\xa0\u202f"[bit] for bit in _bits()),
    "a special space beside a common one": lambda: "".join(
        "ab" + "\xa0" * b + " " for b in _bits()
    ),
    "special spaces behind commas": lambda: "".join("ab," + " \xa0"[bit] for bit in _bits()),
    "spaces behind numbers": lambda: _optional(_words("abcdef", "5 "), "\xa0", 2),
    "one blank or two": lambda: "".join("ab" + " " * (1 + bit) for bit in _bits()),
    "one blank or two behind a sentence": lambda: "".join("Ok." + " " * (1 + b) for b in _bits()),
    "how wide a gap is": lambda: "".join(
        f"a{n}" + " " * (3 + bit) for n, bit in enumerate(_bits())
    ),
    "a blank behind a line": lambda: "".join("ab" + " " * bit + "\n" for bit in _bits()),
    "a blank or a tab behind a line": lambda: "".join("ab" + " \t"[bit] + "\n" for bit in _bits()),
    "a blank in an empty line": lambda: "".join("ab\n" + " " * bit + "\n" for bit in _bits()),
    "a tab or blanks before a line": lambda: (
        "ab\n" + "".join(("\t", " " * 8)[bit] + "ab\n" for bit in _bits())
    ),
    "line ends of Windows or of Unix": lambda: "".join("ab" + "\r" * b + "\n" for b in _bits()),
    "an accent of its own or not": lambda: _spelt("é"),
    "accents in another order": lambda: "".join(
        "a" + ("\u0323\u0302", "\u0302\u0323")[bit] + " " for bit in _bits()
    ),
    "Korean in syllables or in letters": lambda: _spelt("한"),
    "the sign of Kelvin or the letter": lambda: "".join("K\u212a"[bit] + " " for bit in _bits()),
    "ideographs that double others": lambda: "".join("例\uf9b5"[bit] for bit in _bits()),
    "a filler that shows nothing": lambda: _optional(_words("abcdef"), "\U00016fe4"),
    "direction marks in a row": lambda: "שלום " + "".join("\u200e\u200f"[bit] for bit in _bits()),
    "direction marks between letters": lambda: _between("שלוםשלום" * 15, "\u200f"),
    "empty isolates": lambda: "שלום " + "".join("\u2066\u2067"[b] + "\u2069" for b in _bits()),
    "nested isolates": lambda: "שלום \u2066\u2067abc\u2069\u2069",
    "soft hyphens behind each letter": lambda: _between("Lebensversicherung" * 7, "\xad"),
    "kinds of space": lambda: "".join("a" + chr(0x2000 + half % 11) for half in _halves()),
    "piles of accents": lambda: "Hello o" + "".join(chr(0x0300 + half) for half in _halves()),
    "braille blanks": lambda: "".join("word" + " \u2800"[bit] for bit in _bits()),
    "Mongolian selectors in Latin": lambda: "Hello\u180b\u180c world",
    "two Mongolian selectors": lambda: "ᠮᠣᠩ\u180b\u180cᠭᠣᠯ",
    "a null note": lambda: "Hello\U0001d159 world",
    "a hieroglyph's joiner": lambda: "Hello\U00013430 world",
    "an object that is not there": lambda: "Hello \ufffc world",
    "the end of a plane": lambda: "Hello \U0001fffe world",
    "an empty plane": lambda: "Hello \U00050000 world",
    "an annotation": lambda: "Hello \ufff9world\ufffaearth\ufffb",
    "private use": lambda: "Hello \ue123 world",
    "tags": lambda: "Hello" + "".join(chr(0xE0000 + byte) for byte in MESSAGE),
}


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("author", [Author.BRAIN, Author.OWNER])
def test_a_message_that_nobody_sees_is_held(channel: str, author: Author) -> None:
    judged = gate.judge_text(CHANNELS[channel](), most=4096, author=author)

    assert isinstance(judged, Objection)
    assert judged.why is HoldReason.HIDDEN, judged.reason


LETTER = (
    "Hello Anna,\nthank you for the long letter, the train to Cologne leaves at nine and\n"
    "arrives before noon. Bring the tickets.\nWe meet at the clock. Then we eat.\nBye, Tom\n\n"
) * 6
BILLS = [
    (name, city, round((7.5 * len(city)) ** 1.5 * factor, 2))
    for name in ("Anna", "Benedikt", "Chiara", "Do")
    for city in ("Rome", "Paris", "San Francisco", "Ulm", "New York")
    for factor in (0.02, 0.1, 0.9)
]
GERMAN = "Für die Übersicht über größere Räume müssen später schöne Grüße an die Ärzte gehen. " * 4
HINDI = "क्या व्यक्ति संख्या प्यार मुख्य विद्या भाग्य सत्य नित्य मध्य तथ्य पत्ता बच्चा अच्छा"
PASSES = {
    "each sign with its selector": " ".join(f"{sign}\ufe0f" for sign in SIGNS[:60]),
    "signs without, one with": " ".join(SIGNS[:40]) + " 🌡\ufe0f",
    "Hindi with every half form": HINDI.replace("्", "्\u200d"),
    "Hindi with three half forms": HINDI.replace("्", "्\u200d", 3),
    "one German word, always the same": "Donau\xaddampf\xadschiff " * 30,
    "three German words": "Die Lebens\xadversicherung, die Kranken\xadversicherung und die Renten "
    "zahlen bei Arbeits\xadunfähigkeit; die Unterlagen liegen im Sekretariat bereit. " * 3,
    "Thai with a break between all words": THAI.replace("|", "\u200b"),
    "Khmer with a break between all words": KHMER.replace("|", "\u200b"),
    "Thai with a few breaks": THAI.replace("|", "\u200b", 20).replace("|", ""),
    "more Thai with a break between all words": f"{THAI} {THAI} {THAI}".replace("|", "\u200b"),
    "Lao with a break between all words": LAO.replace("|", "\u200b"),
    "Burmese with a break between all words": BURMESE.replace("|", "\u200b"),
    "Thai with breaks beside names": "ส่ง\u200bRemit\u200bให้\u200bAnna " * 9,
    "German with the names of files from a Mac": GERMAN
    + " ".join(unicodedata.normalize("NFD", f"Größe-{n}-Übersicht.pdf") for n in range(40))
    + GERMAN,
    "one accent of its own in each tenth word": GERMAN * 3 + "für ".replace("ü", "u\u0308") * 9,
    "Vietnamese as an old keyboard writes it": "Viê\u0323t Nam đâ\u0301t nươ\u0301c mê\u0301n yêu "
    "cu\u0309a tôi, ơ\u0309 nơi đây co\u0301 như\u0303ng điê\u0300u tuyê\u0323t vơ\u0300i " * 9,
    "Hindi in either spelling": "सड़क पर पढ़ाई " * 9 + "स\u095cक पर प\u095dाई " * 9,
    "Greek of two codes": "Ἀθήν\u1f71 κ\u1f71θε ὀξ\u1f7bς " * 30 + "Ω 5 k\u2126 K " * 9,
    "Chinese paragraphs": "天气\n" + "\u3000\u3000今天天气很好。\n" * 60 + "我们 去 公园\n" * 20,
    "numbers with units": " ".join(f"{n}\xa0km und {n + 1} Leute," for n in range(10, 90)),
    "line ends of Windows": "Hello Anna,\r\n\r\nthe train leaves at nine.\r\n" * 40,
    "an answer with Unix's below which Windows's are quoted": LETTER
    + LETTER.replace("\n", "\r\n> "),
    "lines that Markdown breaks": "Anna Muster  \nLange Straße 5  \n20095 Hamburg\n\n" * 30,
    "a poem that Markdown breaks, in prose": LETTER
    + "To see a world  \nin a grain of sand  \nand a heaven\n\n" * 9
    + LETTER,
    "lines that flow on": LETTER.replace("\n", " \n").replace(". \n", ".\n"),
    "two blanks behind each sentence": LETTER.replace("\n", " ").replace(". ", ".  "),
    "a few blanks too many": LETTER.replace(" train", "  train", 2) + LETTER.replace(",", ", ", 2),
    "a table": "\n".join(
        f"{name:<12}{'at ' + city:<20}{price:>9.2f}  {'paid' if price > 40 else 'open'}"
        for name, city, price in BILLS
    ),
    "a table of Markdown": "| Name | Price |\n|:-----------|------:|\n"
    + "\n".join(f"| {name:<10} | {price:>7.2f} |" for name, _, price in BILLS),
    "a program": "".join(
        f"    {name.lower()} = {price}".ljust(30) + f"  # {city}\n" + "    \n" * (city == "Ulm")
        for name, city, price in BILLS
    ),
    "columns of a spreadsheet": "".join(f"{a}\t{b}\t{c}\n" for a, b, c in BILLS),
    "French": "1\u202f250\xa0€\xa0; c’est «\xa0tout\xa0»\xa0! À 10\xa0h, M.\xa0Petit\xa0? " * 9,
}


@pytest.mark.parametrize("writing", PASSES)
def test_writing_that_needs_hidden_characters_passes(writing: str) -> None:
    assert gate.judge_text(PASSES[writing], most=4096) == Deliverable(PASSES[writing].strip())


def test_blanks_hold_hardly_any_page_of_the_docs() -> None:
    pages = [path.read_text("utf-8")[:4096].strip() for path in Path("docs").rglob("*.md")]
    held = [page[:40] for page in pages if hidden_layout.objection(page)]

    assert len(pages) > 30
    assert len(held) <= 1, held


def test_the_owner_who_saw_the_blanks_may_insist() -> None:
    text = CHANNELS["one blank or two"]()

    assert isinstance(gate.judge_text(text, most=4096, author=Author.WARNED), Deliverable)


def test_no_character_takes_a_byte_of_choice() -> None:
    selectors = [_selector(byte) for byte in range(256)]
    for base in ("葛", "邉", "辻", "☺", "❤", "0", "の", "א", "、", "∩", "က", "ᠠ", "a", "é"):
        passed = [each for each in selectors if _passes(f"{base}{each} 東京")]
        assert len(passed) <= 34, base


def _passes(text: str) -> bool:
    return isinstance(gate.judge_text(text, most=4096), Deliverable)
