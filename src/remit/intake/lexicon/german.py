"""How one asks in German."""

from typing import Final

from remit.intake.lexicon.german_time import TIME
from remit.intake.lexicon.shape import (
    ASK,
    BOOK,
    GIVE,
    MAIL,
    PLACE,
    REMIND,
    SEND,
    STOP,
    TELL,
    TELL_ME,
    WHATSAPP,
    WORK,
    WRITE,
    Language,
    Link,
    Talk,
    Told,
    Verb,
)
from remit.intake.lexicon.shape import REMIND_ME as _REMIND_ME
from remit.language.phrases import Phrases, some, words

_FIRST: Final[dict[str, Verb]] = {
    "schick|schicke|schickt|schicken sie|schickst du|sende|senden sie|send|sendest du": SEND,
    "verschick|verschicke|leite|leite weiter|übermittle|übermittel|versende|schickste": SEND,
    "gib|geben sie|gibst du|zeig|zeige|reich|reiche|lass|lasse": GIVE,
    "stell|stelle|poste|leg|lege|pack|packe|veröffentliche|lade|häng|setz|setze|schieb": PLACE,
    "sag|sage|sagen sie|sagst du|teil|teile|teilst du|informier|informiere|benachrichtige": TELL,
    "benachrichtigst du|melde|meld|warne|warn|alarmiere": TELL,
    "schreib|schreibe|schreiben sie|schreibst du": WRITE,
    "antworte|richte|bestätige|ping|simse|funk": TELL,
    "gib mir bescheid|sag mir bescheid|halt mich auf dem laufenden|weck mich": TELL_ME,
    "halte mich auf dem laufenden|melde dich|melde dich bei mir": TELL_ME,
    "frag|frage|fragst du": ASK,
    "erinnere|erinner|erinnerst du|erinnern sie|erinner bitte": REMIND,
    "lass mich nicht vergessen|erinnerung|eine erinnerung|brauche ich eine erinnerung": _REMIND_ME,
    "stell mir einen wecker|stell eine erinnerung|setz eine erinnerung|mach mir eine erinnerung": (
        _REMIND_ME
    ),
    "ich brauche eine erinnerung|richte eine erinnerung ein|leg eine erinnerung an": _REMIND_ME,
    "maile|mail|mailst du|e-mail|email": MAIL,
    "whatsapp": WHATSAPP,
    "vergiss|streich|streiche|deaktiviere|schalte|schalt": STOP,
    "stopp|stoppe|storniere|lösch|lösche|brich|beende|pausiere|hör auf|entferne": STOP,
    "buch|buche|buchst du|reservier|reserviere|vereinbare|vereinbar|plan|plane|bestell": BOOK,
    "bestelle|organisier|organisiere|mach einen termin|leg einen termin": BOOK,
    "recherchier|recherchiere|such|suche|suchst du|find|finde|findest du|find heraus": WORK,
    "finde heraus|krieg raus|prüf|prüfe|prüfst du|check|checke|checkst du|schau|schaue|guck": WORK,
    "vergleich|vergleiche|vergleichst du|sammle|sammel|fass|fasse|fasst du|analysier": WORK,
    "analysiere|lies|überarbeite|korrigier|korrigiere|entwirf|erstell|erstelle|erstellst du": WORK,
    "mach|mache|machst du|bau|baue|entwickle|programmier|programmiere|reparier|repariere": WORK,
    "übersetz|übersetze|übersetzt du|berechne|rechne|zähl|zähle|schätz|schätze|liste": WORK,
    "wähl|wähle|empfiehl|schlag|schlage|erklär|erkläre|beschreib|beschreibe|untersuche": WORK,
    "test|teste|start|starte|führ|führe|installier|installiere|dokumentier|dokumentiere": WORK,
    "beobachte|überwach|überwache|verfolg|verfolge|behalte|behalt|ermittle|ermittel|hol": WORK,
    "hole|besorg|besorge|lad|kürz|kürze|formulier|formuliere|ruf|rufe|kauf|kaufe|bezahl": WORK,
    "verlängere|melde mich an|druck|drucke|sichere|bewerte|wandle|extrahiere|stell zusammen": WORK,
    "stelle zusammen|hilf mir|kümmer dich um|kümmere dich um|sortier|sortiere|ordne|bereite": WORK,
    "trag|trage|notier|notiere|ergänze|aktualisiere|verfass|verfasse|räum": WORK,
    "öffne|nutze|benutze|dicht|dichte|skizzier|skizziere|notiere dir|gestalte|male": WORK,
}
_LAST: Final[dict[str, Verb]] = {
    "schicken|senden|zuschicken|verschicken|weiterleiten|zusenden|rüberschicken|schickst": SEND,
    "zu schicken|zu senden|zuzuschicken|weiterzuleiten|sendest|übermitteln|geschickt": SEND,
    "geben|zeigen|zu geben": GIVE,
    "stellen|posten|legen|packen|einstellen|veröffentlichen|ablegen|hochladen": PLACE,
    "sagen|mitteilen|informieren|benachrichtigen|warnen|bescheid geben": TELL,
    "bescheid sagen|zu sagen|mitzuteilen|zu informieren|zu benachrichtigen": TELL,
    "schreiben|zu schreiben|schreibst": WRITE,
    "sagst|mitteilst|ausrichten|auszurichten|bescheid gibst|bescheid sagst": TELL,
    "bescheid zu geben|bescheid zu sagen|zu warnen|alarmieren|kontaktieren|anpingen|wecken": TELL,
    "fragen|zu fragen": ASK,
    "erinnern|zu erinnern|erinnerst|daran erinnern|erinnert werden": REMIND,
    "mailen|zu mailen|mailst|emailen": MAIL,
    "whatsappen": WHATSAPP,
    "stornieren|löschen|abbrechen|beenden|stoppen": STOP,
    "buchen|reservieren|vereinbaren|bestellen|organisieren|planen": BOOK,
    "zu buchen|zu reservieren|zu vereinbaren|zu bestellen": BOOK,
    "recherchieren|suchen|finden|herausfinden|rausfinden|prüfen|checken|schauen|nachschauen": WORK,
    "nachsehen|vergleichen|sammeln|zusammenfassen|analysieren|lesen|durchlesen|überarbeiten": WORK,
    "korrigieren|entwerfen|erstellen|machen|bauen|entwickeln|programmieren|reparieren": WORK,
    "übersetzen|berechnen|ausrechnen|zählen|schätzen|auflisten|auswählen|empfehlen": WORK,
    "vorschlagen|erklären|beschreiben|untersuchen|testen|starten|ausführen|installieren": WORK,
    "dokumentieren|beobachten|überwachen|verfolgen|ermitteln|holen|besorgen|kürzen": WORK,
    "formulieren|anrufen|kaufen|bezahlen|verlängern|anmelden|drucken|sichern|bewerten": WORK,
    "zusammenstellen|zu recherchieren|zu suchen|zu prüfen|herauszufinden|zu vergleichen": WORK,
    "zusammenzufassen|zu erstellen|zu finden|vorbereiten|verfassen|aktualisieren|gucken": WORK,
    "nachgucken|aufräumen|herunterladen|raussuchen|heraussuchen|rauszusuchen|zu checken": WORK,
    "vergleichst|recherchierst|suchst|findest|prüfst|zusammenfasst|erstellst|checkst|machst": WORK,
    "herausfindest|rausfindest|heraussuchst|raussuchst|übersetzt|liest|analysierst|holst": WORK,
    "fertigmachen|durchgehen|eintragen|notieren|abschicken lassen|abgleichen|nachhaken": WORK,
}
_COMMON: Final = """
der die das den dem des ein eine einen einem einer eines kein keine keinen und oder aber sondern
denn weil dass daß ob wenn als wie wo was wer wen wem warum wann welche welcher welches ich du er
sie es wir ihr mich dich sich uns euch mir dir ihm ihn ihnen mein meine meinen meinem meiner dein
deine deinen sein seine seinen unser unsere nicht nichts noch nur auch schon sehr mehr bitte mal
ist sind war waren bin bist sei habe hab hast hat haben hatte wird werden wurde würde kann kannst
könnte könntest muss musst soll sollst darf mag möchte will in im ins an am ans auf aus bei beim
mit nach seit von vom zu zum zur über unter vor für durch gegen ohne um bis per so dann da hier
dort jetzt immer wieder ganz etwas alle alles jeder jede jedes dieser diese dieses daran davon
dazu damit danach falls hallo danke ja nein doch wäre gibt geht
"""

GERMAN: Final = Language(
    code="de",
    time=TIME,
    common=words(_COMMON),
    links=Phrases(
        {
            "und|sowie|plus|&|+": Link.AND,
            "dann|und dann|danach|und danach|anschließend|und anschließend|schließlich": Link.THEN,
            "wenn du fertig bist|sobald du fertig bist|im anschluss|daraufhin|hinterher": Link.THEN,
            "außerdem|ausserdem|und außerdem|zusätzlich": Link.ALSO,
            "auch|und auch|ferner|des weiteren": Link.ALSO,
            "zweitens|drittens|viertens|zum zweiten": Link.ALSO,
            "ebenfalls|ebenso|gleichfalls": Link.TOO,
            "noch was|und noch was|noch etwas|weiterhin|nebenbei|davon abgesehen": Link.ALSO,
            "aber|sondern|jedoch|stattdessen|dafür": Link.BUT,
            "bitte|mal|ma|doch|kurz|einfach|hallo|hi|hey|äh|ähm|öh|öhm|tja|also|naja": Link.POLITE,
            "ok": Link.POLITE,
            "erstens|zum ersten": Link.POLITE,
            "also|übrigens|zuerst|zunächst|erst mal": Link.POLITE,
            "erstmal|erst|als erstes|schnell|so": Link.POLITE,
            "wenn möglich|wenn es geht|für mich|bitte mal": Link.POLITE,
            "mal bitte|bitte einmal|mal eben": Link.POLITE,
            "eben|noch|nochmal bitte|ja|gerne|gern|moin|ach|ach ja|bloß|du": Link.POLITE,
        }
    ),
    frames=some(
        "kannst|könntest|kannste|könnteste",
        "kannst du|könntest du|koenntest du|würdest du|wuerdest du|magst du|können sie",
        "könnten sie|würden sie|kannst du mal|könntest du mal|ich möchte dass du|wärst du so lieb",
        "ich möchte , dass du|ich will dass du|ich will , dass du|ich hätte gern , dass du",
        "du sollst|du könntest|du kannst|sei so nett und|sei so gut und|wärst du so nett und",
        "wärst du so nett|möchtest du|willst du|denk daran|denk dran|achte darauf|du musst",
        "möchte ich wissen|ich möchte wissen|ich will wissen|ich wüsste gern|will ich wissen",
        "es wäre toll , wenn du|es wäre super , wenn du|wäre super , wenn du|schaffst du es",
        "wir sollten|wir könnten|du kannst mir|du könntest mir|meinst du , du könntest",
        "ich möchte gern wissen|ich würde gern wissen|könnt ihr|aufgabe|todo|lass uns",
    ),
    wants=some(
        "ich brauche|ich brauch|ich hätte gern|ich hätte gerne|ich möchte|ich will|wir brauchen",
        "brauche ich|hätte ich gern|hätte ich gerne|möchte ich|ich wünsche mir|bräuchte ich",
        "ich bräuchte",
    ),
    wants_not=some("zu|dass"),
    ability=some("deutsch|das|sprechen|hören|verstehen|helfen|schwimmen|singen|es"),
    talk=Phrases(
        {
            "danke|vielen dank|dankeschön|danke dir": Talk.THANKS,
            "danke schön|besten dank|lieben dank": Talk.THANKS,
            "tausend dank|herzlichen dank|merci|danke sehr|danke euch|1000 dank": Talk.THANKS,
            "viele grüße|liebe grüße|beste grüße|schöne grüße|gruß|lg|vg|mfg": Talk.GREETING,
            "mit freundlichen grüßen|mit besten grüßen|freundliche grüße": Talk.GREETING,
            "guten morgen|guten tag|guten abend|gute nacht|hallo|hi|hey|moin|servus": Talk.GREETING,
            "grüß dich|grüß gott|tschüss|tschüs|ciao|bis morgen|bis später|bis bald": Talk.GREETING,
            "bis dann|bis nachher|bis gleich|auf wiedersehen": Talk.GREETING,
            "schönen abend|schönen tag": Talk.GREETING,
            "schönes wochenende|wie geht's|wie geht es dir|na|schönen feierabend|bis montag": (
                Talk.GREETING
            ),
            "lol|haha|hihi|ok|okay|cool|super|toll": Talk.CHATTER,
            "prima|klasse|perfekt|passt|passt so|ja": Talk.CHATTER,
            "nein|nee|nö|jo|jep|genau|stimmt|alles klar": Talk.CHATTER,
            "gut|sehr gut|schön|wow|krass|ach so": Talk.CHATTER,
            "achso|hm|hmm|na gut|egal|macht nichts|kein problem|gerne|gern geschehen": Talk.CHATTER,
            "verstehe|verstanden|einverstanden|sorry": Talk.CHATTER,
            "tut mir leid|glückwunsch|bitte schön": Talk.CHATTER,
            "echt|wirklich|oha|hammer|läuft|gut gemacht|weiter so|hab ich gesehen|interessant": (
                Talk.CHATTER
            ),
        }
    ),
    corrections=some(
        "ich meinte|ich meine|ich wollte sagen|korrektur|vergiss es|vergiss das",
        "mach das rückgängig",
        "ändere das auf|ändere es auf|verschieb es auf|verschieb das auf|das war falsch|brich ab",
        "storniere das|storniere es|lösch das|lösch es|stopp das|hör auf damit|lass es",
        "vergiss das mit|vergiss die sache mit|streich das mit|lass das mit|storniere das mit",
    ),
    rather=some("lieber|doch lieber|besser|doch besser|dann lieber|eher"),
    not_corrections=some("zu|dass|, dass"),
    asking=some(
        "was|wer|wie|wann|wo|warum|wieso|weshalb|welche|welcher|welches|wen|wem|wohin|woher",
        "wie viel|wie viele|worum|womit|wofür",
    ),
    auxiliary=some(
        "hast du|hat|ist|sind|war|bist du|wird|gibt es|kann ich|darf ich|soll ich|muss ich",
        "habe ich|haben wir|können wir|hab ich|stimmt es",
        "haben|waren|kennst du|weißt du|glaubst du|meinst du|warst du|wurde|geht",
    ),
    stating=some(
        "ich|wir|er|sie|es|das|der|die|mein|meine|unser|unsere|sein|ihr|heute war|gestern|da",
        "man|dein|deine|dies|diese|dieser|niemand|alle|jemand|mir|hier|leider|hab",
    ),
    was=words("war waren"),
    musts=some("muss|müssen|soll|sollen|sollte|sollten|braucht|gehört|müsste"),
    verbs=Phrases(_FIRST),
    final_verbs=Phrases(_LAST),
    task_words=some(
        "erinnerung|erinnerungen|aufgabe|aufgaben|wecker|zu schicken|zu senden|zu erinnern",
        "benachrichtigung|benachrichtigungen|serie|zu mailen|zu schreiben",
    ),
    me=some("mir|mich|an mich|bei mir|mir selbst"),
    them=some(
        "ihm|ihr|ihnen|ihn|uns|allen|jedem|jemandem|an uns|an sie|an ihn|an alle|dem team|das team",
        "ans team|an das team|der gruppe|der familie|unserem team|meinem team",
    ),
    to=some("an"),
    told=Phrases(
        {
            "mit dem text|mit text|mit dem inhalt|mit den worten|mit dem wortlaut": Told.LETTER,
            "in der steht|in dem steht|wo drin steht|die lautet|der lautet|das lautet": Told.LETTER,
            "mit der nachricht|mit folgendem text|mit dem satz": Told.LETTER,
            "worin steht|wo drinsteht|in welcher steht|und schreib|mit der aufschrift": Told.LETTER,
            "dass|daß|in der steht , dass|in der steht dass": Told.STATEMENT,
            "daran|daran , dass|daran dass|dran|dran , dass|damit ich": Told.DOING,
            "an|ans|über|von|zu|wegen|ob|wann|wie|was|um": Told.TOPIC,
        }
    ),
    said_plainly=frozenset({Told.BARE}),
    of_myself=frozenset(),  # behind "dass" the verb stands last: see `wording`
    doing=some(),
    deed_ends=(),
    slips={
        "erinnre": "erinnere",
        "erinnr": "erinner",
        "ner": "einer",
        "nem": "einem",
        "bidde": "bitte",
        "ma": "mal",
        "heut": "heute",
        "kannste": "kannst",
        "könnteste": "könntest",
        "haste": "hast",
    },
    guessed_verbs=words("erinnere erinner recherchiere übersetze vergleiche"),
    guessed_times=words(
        "übermorgen montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag"
    ),
    also_tell=frozenset(),
    subjects=words("ich wir du es das"),
    finite=words(
        """ist sind war bin wird werden habe hab hat haben kann können muss müssen soll komme kommt
        fällt findet beginnt startet brauche möchte"""
    ),
    third=words("er sie ihm ihn ihr ihre ihren sein seine seinen seinem ihnen"),
    not_told=words(""),
    particles=some(
        "bescheid|mit|zu|rüber|weiter|ein|ab|aus|kurz bescheid|zurück|an|rein|hoch|rauf"
    ),
    messages=some(
        "nachricht|eine nachricht|die nachricht|eine kurze nachricht|notiz|eine notiz",
        "eine info|info|folgendes|folgende nachricht|folgenden text|diese nachricht|diesen text",
        "eine antwort|einen hinweis|eine benachrichtigung|eine meldung|den text",
    ),
    reminders=some("eine erinnerung|erinnerung|eine kurze erinnerung"),
    with_=some("mit"),
    results=some(
        "ergebnis|ergebnisse|resultat|resultate|die günstigsten|die günstigste|den günstigsten",
        "die liste|das ergebnis|die ergebnisse|die zusammenfassung|den bericht|die antwort",
        "die tabelle|die übersicht|eine übersicht|eine zusammenfassung|eine liste|einen bericht",
        "den entwurf|den text|das dokument|was du findest|was du gefunden hast|die auswahl",
        "das resultat|alles|die besten|die top 3|die top drei|den link|die links|den plan",
        "die übersetzung|eine tabelle|eine kurze zusammenfassung|das fazit|das ganze|die datei",
        "die auswertung|den vergleich|eine auswertung|die mail|die e-mail|die zahlen|die notizen",
        "das gedicht|die analyse|den artikel|die nachricht|den brief|die kurzfassung|den besten",
    ),
    refers=some("es|sie|das|dies|ihn|das alles|alle|beides|diese|diesen|das hier|den"),
    by=some("per|via|mittels|mit hilfe von|mithilfe von"),
    on=some("auf|über|in|ins|im|aufs|ans|an|als|am|auf dem|auf das|in das|zum|in mein|auf mein"),
    articles=words(
        """der die das den dem des ein eine einen einem einer mein meine meinen meinem meiner dein
        deine deinen unser unsere diese diesen dieses dieser ihr ihre sein seine im zum zur vom"""
    ),
    one=words("eine einen ein ne nen einer noch"),
    my=words("mein meine meinen meinem meiner unser unsere unseren unserem unserer"),
    roles=words(
        """vermieter vermieterin chef chefin frau mann partner partnerin freund freundin freunden
        sohn tochter bruder schwester vater papa onkel tante cousin cousine neffe nichte oma opa
        eltern kindern nachbar nachbarn nachbarin kollege kollegen kollegin arzt ärztin zahnarzt
        anwalt anwältin steuerberater lehrer lehrerin trainer kunde kunden kundin assistent
        assistentin klempner elektriker babysitter mitbewohner mitbewohnerin mieter
        hausverwaltung"""
    ),
    nots=some(
        "nicht|nie|niemals|nichts|auf keinen fall|bitte nicht|keinesfalls|noch nicht|keine|kein",
        "keinen|nicht mehr|niemandem|niemanden|du musst nicht|du brauchst nicht|keineswegs",
    ),
    not_nots=some(
        "vergiss nicht|vergiss bitte nicht|nicht vergessen|vergiss nicht ,|bitte nicht vergessen",
        "denk dran|vergesst nicht",
    ),
    limits=some(
        "unter|höchstens|maximal|max|max.|nicht mehr als|weniger als|bis zu|mindestens|mehr als",
        "über|nicht länger als|nicht über|genau|rund|etwa|circa|ca.|ca|nicht teurer als|min.",
        "günstiger als|billiger als|nicht unter|innerhalb von|knapp",
    ),
    limit_starts=some("in|mit|von|für"),
    lengths=some("wörter|wörtern|sätze|sätzen|zeilen|stichpunkte|stichpunkten|seiten|zeichen"),
    without=some("ohne|außer|ausser|abgesehen von|ausgenommen|bis auf"),
    none_of=some("kein|keine|keinen|keinerlei|nichts|nur|nicht zu|bloß kein|bloß keine|lieber"),
    conditions=some("wenn|sobald|immer wenn|jedes mal wenn"),
    only_if=some(
        "nur wenn|falls|nur falls|sofern|es sei denn|solange|vorausgesetzt|außer wenn",
        "im fall dass|im falle dass|aber nur wenn|aber nur falls|erst wenn|nur dann , wenn",
    ),
    relatives=words("welche welcher welches wie ob was wer wo wann warum weil dass wofür wohin"),
    tongues=some(
        "auf deutsch|auf englisch|auf spanisch|auf französisch|auf italienisch|ins deutsche",
        "ins englische|ins spanische|ins französische|in deutsch|in englisch|auf türkisch",
        "auf polnisch|auf russisch|auf portugiesisch|auf niederländisch|in spanisch",
        "in einfacher sprache|ins italienische|auf thai|auf hebräisch|auf arabisch",
    ),
    formats=some(
        "als tabelle|als liste|in stichpunkten|als pdf|als stichpunkte|als anhang|in einem satz",
        "in tabellenform|als csv|stichpunktartig|in kurzform",
        "als markdown|als fließtext|ausführlich",
        "in ganzen sätzen|in eigenen worten|wort für wort",
        "mit quellen|mit links|nach preis sortiert",
        "so kurz wie möglich|mit preisen|in freundlichem ton|in formellem ton",
    ),
    manners=some(
        "halt es|halte es|halt dich|halte dich|bleib|bleibe|achte auf|achte darauf|verwende",
        "es soll|es sollte|es muss|sie sollen|sie sollten|möglichst|am liebsten|nimm|beachte",
        "der ton|das soll|das sollte|benutze nur|wichtig|bitte beachten|am besten|sei",
    ),
    events=words(
        """termin termine treffen besprechung meeting flug flüge anruf abendessen mittagessen
        feier veranstaltung zug reise interview kurs spiel konzert prüfung arzttermin konferenz
        hochzeit geburtstag frühstück call verabredung abfahrt ankunft reservierung vorstellung"""
    ),
    channels=Phrases(
        {
            "email|e-mail|mail|emails|e-mails|mails|elektronische post|postfach": "email",
            "whatsapp|whatsapp-nachricht|whats app|whatsap|wa": "whatsapp",
            "dashboard|übersichtsseite|die app": "dashboard",
        }
    ),
    nouns_are_capital=True,
    strong_is_enough=True,
)
