"""Which zone a place or a short name means; one that means several is not here but in DOUBTFUL."""

from typing import Final

from remit.language.phrases import Phrases

ZONES: Final = Phrases(
    {
        "utc|gmt|zulu": "UTC",
        "cet|cest|mez|mesz": "Europe/Berlin",
        "eastern|et|est|edt": "America/New_York",
        "pacific|pt|pst|pdt": "America/Los_Angeles",
        "jst": "Asia/Tokyo",
        "berlin|berliner|munich|münchen|hamburg|frankfurt|germany": "Europe/Berlin",
        "london|londoner|londres|uk": "Europe/London",
        "paris|pariser|parís": "Europe/Paris",
        "madrid|madrider|barcelona|españa": "Europe/Madrid",
        "rome|rom|roma": "Europe/Rome",
        "vienna|wien|wiener|viena": "Europe/Vienna",
        "zurich|zürich|zürcher": "Europe/Zurich",
        "lisbon|lissabon|lisboa": "Europe/Lisbon",
        "athens|athen|atenas": "Europe/Athens",
        "istanbul|estambul": "Europe/Istanbul",
        "moscow|moskau|moscú": "Europe/Moscow",
        "new york|new yorker|nueva york|nyc": "America/New_York",
        "chicago": "America/Chicago",
        "denver": "America/Denver",
        "los angeles|san francisco|california": "America/Los_Angeles",
        "mexico city|ciudad de méxico": "America/Mexico_City",
        "bogotá": "America/Bogota",
        "lima": "America/Lima",
        "buenos aires": "America/Argentina/Buenos_Aires",
        "são paulo": "America/Sao_Paulo",
        "tokyo|tokio|tokioter": "Asia/Tokyo",
        "bangkok|thai|thailand|tailandia|thailändischer|tailandesa": "Asia/Bangkok",
        "german|deutscher|alemana|alemania": "Europe/Berlin",
        "british|britischer|englischer|inglesa|británica": "Europe/London",
        "french|französischer|francesa|francia": "Europe/Paris",
        "spanischer|española|peninsular": "Europe/Madrid",
        "italian|italienischer|italiana|italia": "Europe/Rome",
        "japanese|japanischer|japonesa|japan|japón": "Asia/Tokyo",
        "singapore|singapur": "Asia/Singapore",
        "hong kong": "Asia/Hong_Kong",
        "beijing|peking|pekín|shanghai": "Asia/Shanghai",
        "dubai|dubái": "Asia/Dubai",
        "delhi|mumbai|india|indian": "Asia/Kolkata",
        "jerusalem|tel aviv|jerusalén|israel": "Asia/Jerusalem",
        "sydney|sídney": "Australia/Sydney",
        "auckland": "Pacific/Auckland",
    }
)
# These need no word "time" behind them.
SHORT: Final = frozenset(
    {"utc", "gmt", "zulu", "cet", "cest", "mez", "mesz", "est", "edt", "et"}
) | {
    "pst",
    "pdt",
    "pt",
    "jst",
}
DOUBTFUL: Final = frozenset({"ist", "cst", "bst", "ast", "sst"})
# Whose clock, by a word and no place: True is the owner's own, False may be anybody's.
CLOCKS: Final = Phrases(
    {
        "my time|our time|my local time|meiner zeit|unserer zeit|mi hora|hora mía": True,
        "local time|local|ortszeit|lokalzeit|hora local|hora de allí|hora del lugar": False,
        "his time|her time|their time|your time|there time|seiner zeit|ihrer zeit|su hora": False,
        "deren zeit|eurer zeit|deiner zeit|tu hora|dortiger zeit": False,
    }
)
