"""Words that tell code work from advice and from plain text, in three languages.

S2's own words come first; other common words follow.
"""

from typing import Final

S2_ADVISORY: Final = "investigate research explore discuss plan design audit review analyze"
S2_SKIP: Final = "document readme docs comment typo spelling"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _forms(verbs: str) -> frozenset[str]:
    """Return English verbs with their endings: plan, plans, planned, planning."""
    return frozenset(form for verb in verbs.split() for form in (verb, *_endings(verb)))


def _endings(verb: str) -> tuple[str, str, str]:
    if verb.endswith("e"):
        return f"{verb}s", f"{verb}d", f"{verb[:-1]}ing"
    if verb.endswith("y") and verb[-2] not in "aeou":
        return f"{verb[:-1]}ies", f"{verb[:-1]}ied", f"{verb}ing"
    if verb in _DOUBLED:
        return f"{verb}s", f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"
    plural = "es" if verb.endswith(("s", "x", "ch", "sh")) else "s"
    return f"{verb}{plural}", f"{verb}ed", f"{verb}ing"


_DOUBLED: Final = _set(
    "plan map scan drop wrap strip swap trim skip ship split stop get set put cut run pin log plug "
    "tag debug fit hit let"
)

# Verbs --------------------------------------------------------------------------------------------

ADVISES: Final = (
    _forms(S2_ADVISORY)
    | _forms(
        "analyse evaluate assess compare brainstorm study examine outline propose recommend "
        "estimate summarize summarise explain consider survey ideate inspect "
        "ponder weigh decide advise suggest interview contemplate clarify understand think sketch "
        "come wireframe critique forecast prioritize prioritise"
    )
    | _set(
        "untersuche untersuchen recherchiere recherchieren erkunde erkunden erforsche erforschen "
        "diskutiere diskutieren besprich besprechen plane planen entwirf entwerfen auditiere "
        "auditieren analysiere analysieren überprüfe überprüfen vergleiche vergleichen bewerte "
        "bewerten begutachte begutachten evaluiere evaluieren überlege überlegen schätze schätzen "
        "ermittle ermitteln erkläre erklären sichte sichten konzipiere konzipieren"
    )
    | _set(
        "investiga investigar explora explorar discute discutir debate debatir planifica "
        "planificar planea planear diseña diseñar audita auditar analiza analizar revisa revisar "
        "compara comparar evalúa evaluar estudia estudiar examina examinar propón proponer "
        "estima estimar recomienda recomendar explica explicar resume resumir"
    )
)
WRITES: Final = (  # they produce text
    _forms("document describe comment proofread reword spellcheck mention rephrase")
    | _set("dokumentiere dokumentieren beschreibe beschreiben kommentiere kommentieren")
    | _set("documenta documentar describe describir comenta comentar")
)
TELLS: Final = _forms("explain outline summarize summarise clarify")  # in a document: text
MAYBE: Final = (  # may end with an answer or a change
    _forms("look check diagnose troubleshoot figure verify monitor identify gather list")
    | _set("see find prüfe prüfen schau schaue schauen sieh guck kläre klären finde")
    | _set("mira mirar comprueba comprobar averigua averiguar verifica verificar echa echar")
)
EDITS: Final = (  # on text they produce text, on code code
    _forms(
        "update fix add improve extend correct edit revise polish expand remove clean translate "
        "create complete finish refresh tidy adjust change amend append include enhance insert "
        "shorten simplify supply provide draft format sync prettify reformat reorganize "
        "restructure modernize start"
    )
    | _set("write writes wrote written writing rewrite rewrites rewrote rewriting")
    | _set(
        "aktualisiere aktualisieren ergänze ergänzen korrigiere korrigieren behebe beheben füge "
        "hinzufügen verbessere verbessern überarbeite überarbeiten schreibe schreib schreiben "
        "erweitere erweitern entferne entfernen übersetze übersetzen ändere ändern erstelle "
        "erstellen berichtige berichtigen vervollständige vervollständigen"
    )
    | _set(
        "actualiza actualizar corrige corregir añade añadir agrega agregar mejora mejorar escribe "
        "escribir amplía ampliar elimina eliminar quita quitar traduce traducir edita editar "
        "completa completar crea crear arregla arreglar cambia cambiar"
    )
)
BUILDS: Final = _forms(  # never used about a text
    "implement refactor debug merge migrate deploy optimize optimise port cache validate parse "
    "encrypt persist serve wire deduplicate upgrade bump downgrade replace rename extract convert "
    "enable disable handle support introduce integrate configure install automate expose throttle "
    "render store delete strip index allow let make show hide move split rotate retry return "
    "raise drop resolve address repair restore rebuild redesign reuse reduce revert rewire guard "
    "prevent ensure speed build patch release test run use generate apply set limit round sort "
    "filter open close load save send fetch pass track bundle inline register schedule sanitize "
    "escape hash sign paginate lock unlock mark switch swap pin tag log map scan wrap trim skip "
    "stop normalize accept reject block turn keep connect hook inject instrument publish tune "
    "collapse stream batch queue link unify export import copy ship adopt adapt"
) | _set(
    "implementiere implementieren refaktoriere refaktorisiere refaktorieren baue bau bauen "
    "einbauen repariere reparieren migriere migrieren zusammenführen führe "
    "entwickle entwickeln ersetze "
    "ersetzen lösche löschen optimiere optimieren benenne umbenennen lege anlegen mache mach "
    "beschleunige beschleunigen erlaube erlauben zeige anzeigen sortiere sortieren teste testen "
    "integriere integrieren konfiguriere konfigurieren setze umsetzen stelle umstellen verschiebe "
    "implementa implementar refactoriza refactorizar fusiona fusionar migra migrar construye "
    "construir optimiza optimizar repara reparar reemplaza reemplazar sustituye sustituir "
    "renombra renombrar borra borrar despliega desplegar integra integrar configura configurar "
    "muestra mostrar permite permitir haz hacer prueba probar valida validar soluciona solucionar"
)
# Also nouns: after `and` they are verbs only if a fitting object follows.
NOUNS_TOO: Final = _forms(
    "plan design audit review document comment research test build cache index log report change "
    "release patch update upgrade link list query filter schedule tag hash export import queue "
    "batch stream load limit check look study survey estimate switch map scan hook"
)
TAKES: Final = _set(  # with a noun of advice they ask for advice: make a plan
    "do make create write prepare draft conduct perform run hold give start produce provide "
    "compile develop doing making creating writing preparing conducting performing "
    "mache mach erstelle "
    "erstellen schreibe schreib führe verfasse entwickle haz hacer crea crear escribe escribir "
    "prepara preparar elabora elaborar realiza realizar"
)
CHANGES: Final = EDITS | BUILDS
VERBS: Final = ADVISES | WRITES | MAYBE | CHANGES | TAKES

# Nouns --------------------------------------------------------------------------------------------

PAGES: Final = _set(  # documents in a project
    "docs doc documentation readme readme.md changelog guide guides tutorial tutorials manual "
    "wiki faq handbook quickstart howto how-to cookbook runbook contributing release-notes "
    "dokumentation doku anleitung handbuch benutzerhandbuch leitfaden "
    "documentación documentacion guía guías tutoriales manuales"
)
SLIPS: Final = _set(  # text wherever it is
    "typo typos spelling misspelling misspellings docstring docstrings comment comments wording "
    "grammar punctuation tippfehler schreibfehler rechtschreibfehler rechtschreibung kommentar "
    "kommentare errata erratas ortografía comentario comentarios"
)
PASSAGES: Final = _set(  # parts of a text
    "section sections paragraph paragraphs example examples note notes sentence sentences badge "
    "badges heading headings chapter chapters screenshot screenshots link links instructions "
    "instruction entry entries contents diagram diagrams step steps warning intro introduction "
    "mistake mistakes glossary text texts wording title abschnitt beispiel "
    "beispiele hinweis sección ejemplo ejemplos nota párrafo explanation description"
)
ADVICE: Final = _set(
    "research audit audits review reviews analysis analyses plan plans design designs "
    "investigation exploration discussion proposal report comparison evaluation assessment study "
    "estimate estimates recommendation recommendations overview summary roadmap strategy concept "
    "brainstorming spike rfc analyse untersuchung recherche bericht vergleich konzept entwurf "
    "überblick plan investigación análisis propuesta informe comparación resumen estudio diseño"
)
MACHINERY: Final = _set(  # only code
    "code generator build builds parser script scripts api endpoint endpoints table tables column "
    "columns component components button buttons function functions method methods class classes "
    "query queries variable variables field fields form forms route routes migration migrations "
    "schema schemas database module modules package plugin selector checker linter compiler "
    "pipeline workflow handler handlers service services server client job jobs worker workers "
    "hook hooks widget test tests regex identifier constant enum key keys parameter argument "
    "import imports sql css html json yaml template templates box bar toggle switch "
    "dialog menu sidebar "
    "icon renderer crawler indexer engine crash bug command flag option config configuration ci "
    "leak editor app checkout login feature cli sdk type types interface struct trait crate "
    "abfrage variable funktion klasse tabelle spalte knopf schalter schnittstelle skript "
    "page screen header footer homepage "
    "consulta función clase tabla columna botón formulario página "
)

# Small words --------------------------------------------------------------------------------------

DETERMINERS: Final = _set(
    "the a an this that these those my our your their its his her each every all any some both "
    "another no der die das den dem des ein eine einen einem einer eines el la los las un una "
    "unos unas lo al del it them him us everything something what whatever mir dir uns ihn sie es"
)
PREPOSITIONS: Final = _set(
    "in on at of for to from with by about into onto over under after before between through "
    "during via per across within against behind near as like than regarding concerning so "
    "without except instead "
    "im am zum zur von vom bei beim mit für auf aus über nach vor unter ohne gegen durch zu an "
    "de en para con por sobre sin desde hasta entre"
)
WITHOUT: Final = _set("without ohne sin except außer salvo instead statt")
WHERE: Final = _set("in to on of into onto within im in zum zur auf an de en del a der des von vom")
PARTICLES: Final = _set("up out off down away back again ein hinzu")
OPENS: Final = _set(  # what follows belongs to the verb before it
    "how whether why if when where what which who that because so while until since unless "
    "wie ob warum weshalb wann wo was welche welcher welches wer dass weil damit falls wenn "
    "cómo como si qué cuándo dónde quién porque que cuál"
)
JOINS: Final = _set(
    ", and or then & plus but also und oder dann aber sowie y e o luego pero también"
)
STEPS: Final = _set(", then dann luego but aber pero")  # a new order begins after them
MODALS: Final = _set("to should could can would might must zu")
NOT: Final = _set("not don't dont doesn't never nicht nie nunca")
IT: Final = _set("it them this that")
LEADS: Final = _set(  # politeness before the verb
    "please kindly just only first firstly finally next now today could can would will you should "
    "must i we want wants need needs to like let's lets i'd we'd has got gotta someone "
    "quickly carefully briefly simply also again maybe probably still already urgently asap then "
    "bitte mal nur erst zuerst jetzt noch kannst könntest du ihr wir ich möchte sollte "
    "müssen muss einmal danach anschließend favor solo primero ahora puedes podrías necesito "
    "necesitamos quiero queremos debemos hay por ok hey hi"
)
ASKS: Final = _set("why what how which where who should is are does do warum wie was qué cómo")
LOOKS: Final = _set("look glance peek vistazo blick")
SAYS: Final = _set(  # a finite verb: a statement, not an order
    "is are was were isn't aren't wasn't does doesn't did didn't has hasn't have haven't had "
    "cannot can't can won't will must mustn't should shouldn't fails crashes shows breaks returns "
    "loses hangs throws freezes overflows disappears flickers stops ignores misses leaks do don't "
    "displays renders loads takes gets goes sends keeps needs lacks contains points says fail "
    "crash ist sind wird werden funktioniert fehlt fehlen stürzt zeigt está son falla"
)
SMALL_WORK: Final = _set(  # work on a document, as a noun
    "update updates fix fixes cleanup change changes improvement improvements rewrite correction "
    "corrections refresh aktualisierung korrektur"
)
STORIES: Final = _set("as als como")
TELLERS: Final = _set("i we ich wir quiero yo")
