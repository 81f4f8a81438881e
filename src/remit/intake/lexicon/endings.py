"""How one says by itself when something that comes back is to end: "Stop after two weeks."."""

from dataclasses import dataclass
from typing import Final

from remit.language.phrases import Phrases, some


@dataclass(frozen=True, slots=True, eq=False)
class Endings:
    """`after` leads in how long it goes on, `on` the last day, `going` an "until" or a "for"."""

    after: Phrases[bool]
    on: Phrases[bool]
    going: Phrases[bool]
    behind: Phrases[bool]  # what may follow: "nach zwei Wochen | aufhören"
    needed: Phrases[bool]  # leads that end nothing without a word behind them


ENGLISH: Final = Endings(
    after=some(
        "stop after|stop it after|stop that after|stop this after|end after|end it after",
        "finish after|quit after|stop reminding me after|stop the reminder after|it ends after",
        "stop the reminders after|stop sending it after|stop sending them after|that ends after",
        "you can stop after|cancel it after|it should stop after|it should end after",
        "it stops after",
    ),
    on=some(
        "stop on|end on|stop it on|end it on|last one on|the last one on|last time on|stop|end",
        "the last time is|the last one is|it ends on|it ends|it should stop on|finish on",
        "you can stop on|the last one should be on|it stops on",
    ),
    going=some(
        "keep going|do this|do that|do it|keep it up|keep doing this|keep doing that|only|just",
        "keep that up|this goes on|it goes on|repeat this|repeat that|repeat it|that's",
        "but only|and only|keep reminding me|please do that|please do this",
    ),
    behind=some("only"),
    needed=Phrases({}),
)
GERMAN: Final = Endings(
    after=some(
        "hör nach|hör damit nach|hör auf nach|höre nach|hör bitte nach|stopp nach|stoppe nach",
        "stopp das nach|beende das nach|beende es nach|das endet nach|ende nach|schluss nach",
        "schluss ist nach|nach|hör dann nach|stopp es nach|lass es nach",
    ),
    on=some(
        "hör|höre|hör damit|stopp|stoppe|schluss ist|das letzte mal|letztes mal|zum letzten mal",
        "ende|ende ist|stopp das|beende das|beende es|letzter termin|hör bitte",
    ),
    going=some(
        "mach das|das ganze|das|und zwar|aber nur|nur|mach so weiter|so weiter|das gilt|es gilt",
        "wiederhol das|wiederhole das|mach weiter|immer so weiter",
    ),
    behind=some("auf|aufhören|damit auf|ist schluss|schluss|ende|beenden|stoppen|wieder auf|lang"),
    needed=some("nach|hör|höre|hör damit|hör nach|hör damit nach|höre nach"),
)
SPANISH: Final = Endings(
    after=some(
        "para después de|deja de hacerlo después de|termina después de|acaba después de",
        "para a las|que termine después de|que pare después de|para tras|termina tras|acaba tras",
        "deja de hacerlo tras|después de|tras|párate después de|para al cabo de|acaba a las",
    ),
    on=some(
        "para|termina|acaba|el último|la última vez|último recordatorio|que termine|que pare",
        "deja de hacerlo|la última",
    ),
    going=some("hazlo|así|solo|sólo|pero solo|sigue así|repítelo|y solo|solamente|únicamente"),
    behind=some("paras|para|terminas|acabas|ya no|lo dejas|se acaba|nada más"),
    needed=some("después de|tras"),
)
ENDINGS: Final = {"en": ENGLISH, "de": GERMAN, "es": SPANISH}
