"""A request by mail is what its writer asks for: no signature is work, no request is lost."""

import textwrap
from typing import Final

from remit.channels.mail import signatures
from remit.language.order_words import asks_for_work
from tests.tables import for_each

ASK: Final = "Send Bert the plan for the house."
SIGNED: Final = [
    "\n\nSent from my iPhone",
    "\n\nGet Outlook for iOS",
    "\n\nGet Outlook for Android",
    "\n\nVon meinem iPhone gesendet",
    "\n\nEnvoyé de mon iPad",
    "\n\nEnviado desde mi iPhone",
    "\n\nОтправлено с iPhone",  # noqa: RUF001 - Russian
    "\n\niPhoneから送信",
    "\n\nSent from Yahoo Mail on Android",
    "\n\nSent with Proton Mail secure email.",
    "\n\nDiese Nachricht wurde von meinem Android Gerät mit K-9 Mail gesendet.",
    "\n\nBest regards, \nHanan",
    "\n\nBest regards\nHanan",
    "\n\nKind regards,\n\nHanan Levi",
    "\nThanks!\nHanan",
    "\n\nHanan",
    "\n\nMit freundlichen Grüßen\nHanan Levi\nRedwood GmbH\n+49 30 1234567\nwww.redwood.example",
    "\n\nViele Grüße,\nHanan\n\nSent from my iPhone",
    "\n\nCordialement,\nHanan",
    "\n\nС уважением,\nХанан",  # noqa: RUF001 - Russian
    "\n\nCheers,",
    "\n\nMfG",
    "\n-- \nHanan Levi\nBuy our lamps",
    "\n--\nHanan",
    *(
        f"\n\n{line}"
        for line in (
            *(
                "Get Outlook for iOS<https://aka.ms/o0ukef>",
                "Outlook für iOS beziehen<https://x.y>",
            ),
            *(
                "Hol dir Outlook für Android<https://aka.ms/AAb9ysg>",
                "Sent from Mail for Windows 10",
            ),
            "Sent from Mail<https://go.microsoft.com/fwlink/?LinkId=550986> for Windows",
            "Sent via the Samsung Galaxy S23 5G, an AT&T 5G smartphone",
            "Sent with [Proton Mail](https://proton.me/mail/home) secure email.",
            *("Sent from HEY", "Sent from Edison Mail", "Gesendet mit der mobilen Mail App"),
            *("Lähetetty iPhonesta", "Küldve az iPhone-omról", "Odesláno z iPhonu"),
            *("发自我的iPhone", "iPhone에서 보냄", "Virus-free.www.avast.com", "***"),
            *("-Hanan", "~Hanan", "Thanks, Hanan", "Best, H.", "LG Hanan", "Gruß, Hanan", "H."),
            *("Thanks!", "Danke!", "Vielen Dank im Voraus!", "Gracias", "Cheers", "Regards"),
            *("Hanan Levi, CEO", "Hanan Levi | Redwood Ltd | +49 30 123456"),
            *("*Hanan Levi*\nRedwood", "Bye,\nHanan \U0001f60a", "Hanan Levi (she/her)"),
            *("Envoyé depuis mon mobile", "Inviato dal mio telefono", "Sorry for typos"),
            "Sent from my phone, please excuse typos",
            "Looking forward to hearing from you.\n\nBest,\nHanan",
            "Ich freue mich auf deine Antwort!\nHanan",
            "Please excuse brevity and typos. Sent from my mobile.",
        )
    ),
    "\nSent from my iPhone",
    "\n\nThanks so much for your help with this,\nHanan",
    "\n\nBest,\nHanan Levi\n\nThis e-mail is confidential and intended solely for the addressee.",
    "\n\nHanan Levi\nCEO\n\nPlease consider the environment before printing this email.",
    "\n\nHanan\n\nDiese E-Mail enthält vertrauliche Informationen nur für den Empfänger.",
    "\n\nSaludos,\nHanan\n\nEste mensaje es confidencial y va dirigido a su destinatario.",
    "\n\nÜdvözlettel:\nHanan Levi",
    "\n\nבברכה,\nחנן לוי\nנשלח מה-iPhone שלי",  # noqa: RUF001 - Hebrew
    "\n\nЗ повагою,\nХанан\nНадіслано з iPhone",  # noqa: RUF001 - Ukrainian
    "\n\n此致\n敬礼\nHanan\n\n发自我的iPhone",
    "\n\nCom os melhores cumprimentos,\nHanan Levi\nDiretor | Levi Lda.\nTel: 912 345 678",
    "\n\nCordiali saluti,\n\ning. Hanan Levi\nVia Roma 1, Milano",
    "\n\nMit besten Grüßen\nProf. Dr.-Ing. Hanan Levi\nLevi & Co.\nHaifa",
    "\n\nThanks in advance for your help with this!\n\nWarmly,\nHanan (he/him)\nm: +44 7700 900123",
    "\n\nYours faithfully,\nHanan\nSent from Samsung Galaxy",
]


@for_each("signature", SIGNED)
def test_a_signature_is_no_request(signature: str) -> None:
    assert signatures.read_request((ASK + signature,), "Hanan", asks_for_work) == ASK


@for_each("text", ["Sent from my iPhone", "Get Outlook for iOS", "-- \nHanan"])
def test_a_mail_of_a_signature_alone_asks_for_nothing(text: str) -> None:
    assert signatures.read_request((text,), "Hanan", asks_for_work) == ""


@for_each(
    "text",
    [
        "Sent from my iPhone is what I want to read about.",
        "A new iPhone for Anna",
        f"{ASK}\n\nOrder a new iPhone",
        f"{ASK}\n\nPlease order a case for my iPhone",
        f"{ASK}\n\nWhat does an iPhone cost?",
        f"{ASK}\n\nBuy milk,\nBread",
        f"{ASK}\n\nInvite these to the party:\nAnna\nBert",
        f"{ASK}\n\nCall mom tonight",
        f"{ASK}\nCall Hanan",
        "Buy:\n- milk\n- bread",
        "Hanan",
        "Call\nHanan Levi about the car",
        f"{ASK}\n\nRemind me tomorrow at nine",
        f"{ASK}\n\nDelete the confidential mail from Bert",
        f"{ASK}\n\nBook lunch with Hanan",
        f"{ASK}\n\nGet Outlook for Anna",
        f"{ASK}\nBuy this:\n\niPhone case",
        f"{ASK}\n- Hanan\n- Bert",
        f"{ASK}\n* Bert\n* Hanan",
        f"{ASK}\n\nLooking forward to the trip, so book a hotel",
        f"{ASK}\n\nTell Anna that I am sorry for the typos",
        f"{ASK}\n\nSorry for the short notice, but book a table",
        f"{ASK}\n\nThanks for the flowers and write to Anna about the vase",
        f"{ASK}\n\nThank Anna for the flowers",
        f"{ASK}\n\nInvite all these:\n\nGuests:\nHanan",
        f"{ASK}\n\nBuy a case for\nSamsung Galaxy S20",
        f"{ASK}\n\nFind out why the message on the printer says that it has a virus",
    ],
)
def test_a_request_is_never_taken_for_a_signature(text: str) -> None:
    assert signatures.read_request((text,), "Hanan", asks_for_work) == text


def test_what_stands_below_the_name_and_asks_for_work_is_kept() -> None:
    text = f"{ASK}\n\nThanks,\nHanan\n\nBuy milk as well."
    assert "Buy milk as well." in signatures.read_request((text,), "Hanan", asks_for_work)


LONG: Final = (
    "Write a short summary of the three offers that came in this week and send it to Bert by "
    "post, with the cheapest one first and the delivery dates of each of them below."
)


def test_a_line_of_a_small_letter_that_begins_with_a_name_goes_on() -> None:
    broken = (
        "Write me a short text about cranes in the\nHula valley, what they eat in winter and\n"
        "when they leave for the north again."
    )
    found = signatures.read_request((broken,), "Hanan", asks_for_work)
    assert found == broken.replace("\n", " ")


@for_each("width", [42, 48, 65, 72, 76, 78])
def test_lines_that_a_program_broke_are_one_request(width: int) -> None:
    wrapped = "\n".join(textwrap.wrap(LONG, width))
    assert wrapped.count("\n") > 0
    assert signatures.read_request((wrapped,), "Hanan", asks_for_work) == LONG


@for_each(
    "text",
    [
        "Buy milk\nCall mom\nWrite to Anna",
        "Send Bert the whole plan for the new house by post before Friday noon\nBuy milk",
        f"{LONG[:70]}\n- milk\n- bread\n1. one\n2. two",
        f"{LONG[:70]}\nWhen: tomorrow",
        "send bert the plan of the house by friday\nbuy milk and bread for the weekend",
        "Send Bert the plan of the house by Friday.\nanna knows where it is",
        f"{ASK}\n\n{LONG[:59]}",
        "The cranes in the valley in the winter\nHow storks find a way\nWhere the pelicans go",
    ],
)
def test_lines_that_the_writer_broke_stay_apart(text: str) -> None:
    assert signatures.read_request((text,), "Hanan", asks_for_work) == text
