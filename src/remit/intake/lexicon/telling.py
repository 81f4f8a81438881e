"""The words by which a "tell Mum that …" can go out as it was said, without a model to word it."""

from typing import Final

from remit.language.phrases import words

# German: behind "dass" the verb stands last; by these it is known, and which subject it has.
I_DO: Final = words(
    """bin habe hab komme gehe kann muss will soll darf mag möchte werde brauche weiß fahre bleibe
    stehe warte freue liebe schaffe mache esse schlafe arbeite koche kaufe hole bringe nehme sitze
    denke glaube hoffe melde schreibe lese sehe höre wohne ziehe trage laufe fliege reise wünsche
    hätte könnte würde wollte war hatte konnte musste kam ging verspäte verstehe vermisse gebe finde
    räume rufe"""
)
WE_DO: Final = words(
    """sind haben kommen gehen können müssen wollen sollen dürfen mögen möchten werden brauchen
    fahren bleiben stehen warten schaffen machen essen kochen kaufen holen bringen nehmen ziehen
    fliegen reisen waren hatten"""
)
IT_DOES: Final = words(
    """ist hat kommt geht kann muss soll wird darf steht liegt beginnt startet endet fällt findet
    klappt passt läuft dauert funktioniert kostet schließt öffnet war hatte wurde bleibt fehlt
    regnet schneit"""
)
THEY_DO: Final = words("sind haben kommen gehen können müssen werden stehen liegen beginnen fehlen")
PREFIXES: Final = (
    *("zurück", "vorbei", "heim", "auf", "aus", "ein", "mit", "vor", "nach", "los", "weg", "her"),
    *("hin", "an", "ab", "um", "zu"),
)

# Spanish: what may stand before a verb of the owner's own, and what only looks like one.
BEFORE: Final = words(
    """ya hoy no ahora también me nos mañana todavía aún al final en casa aquí luego después esta
    tarde noche solo sólo siempre nunca pronto por fin yo nosotros"""
)
NOT_MINE: Final = words("así aquí allí ahí casi mí sí café")
CLITICS: Final = words("lo la los las le les")
# A verb in one of these forms asks somebody to do something: it must be worded for them.
WISHES: Final = words(
    """venga vengan traiga traigan compre compren llame llamen espere esperen haga hagan vaya vayan
    tenga tengan ponga pongan salga salgan sea sean pase pasen recoja deje mande envíe
    conteste responda lleve cierre abra apague encienda cuide tome coma prepare avise diga"""
)
