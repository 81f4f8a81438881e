"""How one says when in German."""

from typing import Final

from remit.intake.lexicon.shape import Part, TimeWords, Unit, Which
from remit.language.phrases import Phrases, some

_NUMBERS: Final = {
    "ein|eins|eine|einer|einem|einen": 1,
    "zwei|zwo": 2,
    "drei": 3,
    "vier": 4,
    "fünf|fuenf": 5,
    "sechs": 6,
    "sieben": 7,
    "acht": 8,
    "neun": 9,
    "zehn": 10,
    "elf": 11,
    "zwölf|zwoelf": 12,
    "dreizehn": 13,
    "vierzehn": 14,
    "fünfzehn|fuenfzehn": 15,
    "sechzehn": 16,
    "siebzehn": 17,
    "achtzehn": 18,
    "neunzehn": 19,
    "zwanzig": 20,
    "einundzwanzig": 21,
    "zweiundzwanzig": 22,
    "dreiundzwanzig": 23,
    "fünfundzwanzig": 25,
    "dreißig|dreissig": 30,
    "vierzig": 40,
    "fünfundvierzig": 45,
    "fünfzig": 50,
    "sechzig": 60,
    "neunzig": 90,
}
_ORDINALS: Final = {
    "ersten|erster|erste|erstem": 1,
    "zweiten|zweiter|zweite": 2,
    "dritten|dritter|dritte": 3,
    "vierten|vierter|vierte": 4,
    "fünften|fünfter|fünfte": 5,
    "sechsten": 6,
    "siebten": 7,
    "achten": 8,
    "neunten": 9,
    "zehnten": 10,
    "zwölften": 12,
    "fünfzehnten": 15,
    "zwanzigsten": 20,
    "letzten|letzter|letzte": -1,
}
_WORKDAYS: Final = (0, 1, 2, 3, 4)

TIME: Final = TimeWords(
    numbers=Phrases(_NUMBERS),
    spans=Phrases(
        {
            "einer|einem|eine|ein": 1,
            "einer halben|einem halben|ner halben|halben|einer halbe": 0.5,
            "anderthalb|eineinhalb|einundeinhalb": 1.5,
            "zweieinhalb": 2.5,
            "dreieinhalb": 3.5,
            "viereinhalb": 4.5,
        }
    ),
    and_half=Phrases({"und eine halbe": 0.5}),
    units=Phrases(
        {
            "sekunde|sekunden|sek": Unit.SECOND,
            "minute|minuten|min": Unit.MINUTE,
            "stunde|stunden|std|h": Unit.HOUR,
            "tag|tage|tagen": Unit.DAY,
            "woche|wochen": Unit.WEEK,
            "monat|monate|monaten": Unit.MONTH,
            "jahr|jahre|jahren": Unit.YEAR,
        }
    ),
    quarter_hours=Phrases(
        {
            "viertelstunde": 15,
            "dreiviertelstunde": 45,
            "halbstunde|halben stunde|halbe stunde": 30,
        }
    ),
    ordinals=Phrases(_ORDINALS),
    ordinal_ends=some("."),
    weekdays=Phrases(
        {
            "montag|mo": 0,
            "dienstag|di": 1,
            "mittwoch|mi": 2,
            "donnerstag|do": 3,
            "freitag|fr": 4,
            "samstag|sonnabend|sa": 5,
            "sonntag|so": 6,
        }
    ),
    on_weekdays=Phrases(
        {
            "montags": (0,),
            "dienstags": (1,),
            "mittwochs": (2,),
            "donnerstags": (3,),
            "freitags": (4,),
            "samstags|sonnabends": (5,),
            "sonntags": (6,),
            "werktags|wochentags|unter der woche|an werktagen|an wochentagen|mo-fr": _WORKDAYS,
            "an wochenenden|wochenends": (5, 6),
        }
    ),
    months=Phrases(
        {
            "januar|jan|jänner": 1,
            "februar|feb": 2,
            "märz|maerz|mrz": 3,
            "april|apr": 4,
            "mai": 5,
            "juni|jun": 6,
            "juli|jul": 7,
            "august|aug": 8,
            "september|sep|sept": 9,
            "oktober|okt": 10,
            "november|nov": 11,
            "dezember|dez": 12,
        }
    ),
    days=Phrases(
        {
            "heute": (0, None),
            "heute morgen|heute früh|heute vormittag": (0, Part.MORNING),
            "heute mittag|heute nachmittag": (0, Part.AFTERNOON),
            "heute abend": (0, Part.EVENING),
            "heute nacht": (0, Part.NIGHT),
            "morgen": (1, None),
            "morgen früh|morgen vormittag|morgen in der früh": (1, Part.MORNING),
            "morgen mittag|morgen nachmittag": (1, Part.AFTERNOON),
            "morgen abend": (1, Part.EVENING),
            "übermorgen|uebermorgen": (2, None),
            "gestern": (-1, None),
            "vorgestern": (-2, None),
            "gestern abend": (-1, Part.EVENING),
        }
    ),
    parts=Phrases(
        {
            "morgens|am morgen|in der früh|früh|vormittags|am vormittag|vormittag": Part.MORNING,
            "mittags|am mittag|nachmittags|am nachmittag|nachmittag": Part.AFTERNOON,
            "abends|am abend|abend": Part.EVENING,
            "nachts|in der nacht|nacht": Part.NIGHT,
        }
    ),
    named=Phrases({"mitternacht": (24, 0), "zwölf uhr mittags": (12, 0)}),
    at=some("um|ab|punkt|um punkt|gegen punkt"),
    on=some("am|diesen|kommenden|am kommenden|an diesem|den|jetzt am"),
    which=Phrases({"nächsten|am nächsten|nächste|nächster": Which.NEXT}),
    which_after=Phrases({}),
    next_week=some("nächste woche|nächster woche|kommende woche|in der nächsten woche"),
    of=some("im|des|vom|in dem"),
    the_day=some("am|jeden|den|immer am"),
    inside=some("in|innerhalb von"),
    roughly=some("genau|etwa|ungefähr|rund|circa|ca.|exakt"),
    from_now=some("von jetzt an|ab jetzt"),
    every=some("jeden|jede|jedes|alle|immer am|einmal pro|einmal im|einmal am"),
    other=Phrases({"zweiten|zweite|zweites": 2, "dritten|dritte": 3, "vierten|vierte": 4}),
    each_month=some("jedes monats|jeden monats|eines jeden monats|jeden monat"),
    the_month=some("im monat|des monats|eines monats"),
    adverbs=Phrases(
        {
            "täglich": Unit.DAY,
            "stündlich": Unit.HOUR,
            "wöchentlich": Unit.WEEK,
            "monatlich": Unit.MONTH,
            "jährlich": Unit.YEAR,
        }
    ),
    weekend=Phrases({"werktag|arbeitstag|wochentag": _WORKDAYS, "wochenende": (5, 6)}),
    every_part=Phrases({"morgen": Part.MORNING, "mittag": Part.AFTERNOON}),
    from_=some("von"),
    through=some("bis|bis einschließlich|-|–"),
    half_before=Phrases(
        {
            "halb": -30,
            "viertel nach": 15,
            "viertel vor": -15,
            "dreiviertel|drei viertel": -15,
            "fünf vor halb": -35,
            "fünf nach halb": -25,
        }
    ),
    past=Phrases({"nach|minuten nach": 1, "vor|minuten vor": -1}),
    half_after=Phrases({}),
    plus=Phrases({}),
    oclock=some("uhr"),
    am_pm=Phrases({}),
    hour_marks=some("h"),
    now=some("jetzt|sofort|gleich jetzt|jetzt gleich|umgehend|jetzt sofort|asap|auf der stelle"),
    vague=some(
        "später|nachher|bald|demnächst|irgendwann|gleich|in kürze|bei gelegenheit|mal wieder",
        "in ein paar minuten|in ein paar stunden|in ein paar tagen|in einigen minuten",
        "nächste woche|nächsten monat|nächstes jahr|diese woche|diesen monat|am wochenende",
        "dieses wochenende|nächstes wochenende|zu mittag|nach dem mittagessen|nach feierabend",
        "in den nächsten tagen|ende der woche|ende des monats|am monatsende|zeitnah|rechtzeitig",
        "ab und zu|von zeit zu zeit|regelmäßig|hin und wieder",
        "heute noch|noch heute|im lauf des tages",
        "letzte woche|neulich|zum feierabend|am frühen abend|am späten abend",
    ),
    deadline=some("bis|spätestens|bis spätestens|bis zum|vor|noch vor|bis am|fällig am|fällig bis"),
    after=some("nach|gegen|ungefähr um|etwa um|circa um|ca. um|frühestens|nicht vor|so um|ab etwa"),
    about=some(
        "für|von|vom|über|seit|zwischen|während|zum|zur|der|des|dem|die|das|als|für den|für die"
    ),
    zone_ends=some("zeit|ortszeit"),
    zone_starts=some("zeit in"),
    until=some("bis|bis zum|bis einschließlich|bis inklusive|bis zu"),
    month_end=some("ende|zum ende von|ende des monats|zum ende des"),
    ends=Phrases(
        {
            "ende des monats|ende dieses monats|monatsende|zum monatsende|ende monat": 0,
            "ende des jahres|jahresende|zum jahresende|ende dieses jahres": 12,
        }
    ),
    lasting=some(
        "für|für die nächsten|die nächsten|in den nächsten|in den kommenden|die kommenden",
        "während der nächsten",
    ),
    long=some("lang"),
    times=some("mal|male"),
    digital_is_24=True,
    bare_day=False,
    day_first=True,
)
