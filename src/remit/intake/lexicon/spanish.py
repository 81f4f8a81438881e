"""How one asks in Spanish."""

from typing import Final

from remit.intake.lexicon.shape import (
    ASK,
    BOOK,
    GIVE,
    MAIL,
    MAIL_ME,
    PLACE,
    REMIND,
    SEND,
    SEND_ME,
    SHARE,
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
from remit.intake.lexicon.spanish_time import TIME
from remit.language.phrases import Phrases, some, words

_VERBS: Final[dict[str, Verb]] = {
    "envía|envia|enviar|envíes|envíe|envías|manda|mandar|mandes|mande|mandas|remite|reenvía": SEND,
    "reenvíes|escribas|preguntes": SEND,
    "reenviar|pasa|pasar|haz llegar|hazle llegar|envíalo|envíala|mándalo|mándala|envíalos": SEND,
    "mándalos|mándaselo|mándasela|envíaselo|envíasela|mándale|envíale|pásale|mandarle": SEND,
    "enviarle|mándales|envíales|pásaselo|mandárselo|enviárselo|reenvíalo|reenvíaselo": SEND,
    "envíame|mándame|pásame|reenvíame|mandarme|enviarme|mándamelo|envíamelo|mándamela": SEND_ME,
    "envíamela|pásamelo|mándamelos|hazme llegar|mandármelo|enviármelo|me mandas|me envías": SEND_ME,
    "me mandes|me envíes|me pasas|me lo mandas|me la mandas|me lo envías|enséñame": SEND_ME,
    "muéstrame|tráeme|dame|me lo mandes|me lo envíes|me las mandas|mándamelas|me das": SEND_ME,
    "comparte|compártelo|compártela|compartir|comparta|compartas": SHARE,
    "da|dale|muestra|enseña|entrega": GIVE,
    "publica|pon|ponlo|ponla|súbelo|súbela|sube|cuelga|cuélgalo|deja|déjalo|déjala|añade": PLACE,
    "ponme|déjame|publícalo|colócalo|guárdalo|ponlos|súbelos|subirlo|ponerlo": PLACE,
    "di|dile|diles|decirle|avisa|avísale|avisar|avisarle|informa|infórmale|notifica": TELL,
    "escribe|escríbele|escribir|escribirle": WRITE,
    "notifícale|comunica|comunícale|contesta|responde": TELL,
    "respóndele|contéstale|confírmale|confirma|saluda|felicita|felicítale|avises|digas": TELL,
    "avísame|dime|infórmame|notifícame|confírmame|escríbeme|cuéntame|me avisas|me dices": TELL_ME,
    "avisarme|decirme|me avises|me digas|alértame": TELL_ME,
    "me puedes avisar|hazme saber|me informas": TELL_ME,
    "despiértame|mantenme al tanto|mantenme informado|mantenme informada": TELL_ME,
    "pregunta|pregúntale|preguntarle|preguntar|pide|pídele|pedirle": ASK,
    "recuerda|recuérdale|recordar|recordarle|recuérdales|recuerdes": REMIND,
    "recuérdame|recuérdamelo|recordarme|recordármelo|me recuerdas": _REMIND_ME,
    "me recuerdes|hazme acordar|que no se me olvide": _REMIND_ME,
    "no dejes que olvide|no dejes que se me olvide|ponme un recordatorio|recordatorio": _REMIND_ME,
    "pon un recordatorio|crea un recordatorio|necesito un recordatorio|acuérdame": _REMIND_ME,
    "programa un recordatorio|me puedes recordar|me haces acordar|recuérdanos": _REMIND_ME,
    "correo|email|mail": MAIL,
    "mailéame|emailéame": MAIL_ME,
    "whatsapp|wasapea": WHATSAPP,
    "olvida|olvídate de|quita|desactiva|apaga": STOP,
    "cancela|detén|borra|elimina|deja de|anula|suspende|cancelar": STOP,
    "reserva|reservar|agenda|agendar|planifica|organiza|pide cita|encarga|programa": BOOK,
    "resérvame|agéndame|concierta|reserves|pídeme cita": BOOK,
    "busca|búscame|buscar|buscarme|investiga|investigar|encuentra|encuéntrame|averigua": WORK,
    "averiguar|averíguame|comprueba|compruébame|revisa|revisar|revises|mira|mirar|mírame": WORK,
    "compara|comparar|compárame|recopila|recoge|resume|resumir|resúmeme|resumas|analiza": WORK,
    "analizar|lee|leer|corrige|corregir|redacta|redactar|prepara|preparar|prepárame|crea": WORK,
    "crear|haz|hazme|hacer|hagas|construye|desarrolla|arregla|arreglar|repara": WORK,
    "traduce|traducir|tradúceme|tradúcelo|calcula|calcular|cuenta|contar|estima|lista": WORK,
    "elige|recomienda|recomiéndame|sugiere|sugiéreme|propón|explica|explícame|explicar": WORK,
    "describe|examina|verifica|verificar|prueba|ejecuta|ejecutar|inicia|instala|documenta": WORK,
    "vigila|sigue|monitorea|monitoriza|controla|consigue|consígueme|descarga|descargar": WORK,
    "reescribe|acorta|llama|llamar|compra|comprar|paga|pagar|renueva|imprime|evalúa": WORK,
    "convierte|extrae|genera|ordena|actualiza|echa un vistazo|ayúdame|consulta|consultar": WORK,
    "haz una lista|dibuja|diseña|completa|rellena|limpia|saca|sácame|busques|investigues": WORK,
    "prepares|compares|traduzcas|compruebes|estudia|elabora|elaborar|confecciona": WORK,
    "comprobar|encontrar|ordéname|prepárate|échale": WORK,
}
_COMMON: Final = """
el la los las lo un una unos unas de del al a y e o u pero sino que qué cual cuál quien quién como
cómo cuando cuándo donde dónde por para con sin sobre entre desde hasta hacia en mi mis tu tus su
sus nuestro nuestra nuestros yo tú él ella nosotros ellos ellas me te se nos le les esto eso este
esta estos estas ese esa aquel aquella es son era fue soy eres está están estoy hay ha he han has
ser estar tener tengo tiene tienes hacer puede puedes podrías quiero quieres necesito debe no ni
sí si ya muy más menos también tampoco todo toda todos todas cada otro otra luego entonces porque
aquí allí ahora hoy algo nada alguien nadie favor gracias hola vale ir voy va
"""

SPANISH: Final = Language(
    code="es",
    time=TIME,
    common=words(_COMMON),
    links=Phrases(
        {
            "y|e|&|+|así como": Link.AND,
            "luego|y luego|después|y después|entonces|y entonces|a continuación": Link.THEN,
            "finalmente|por último|cuando termines": Link.THEN,
            "cuando acabes|al terminar|acto seguido": Link.THEN,
            "también|además|y también|y además|aparte": Link.ALSO,
            "segundo :|segundo ,|tercero :|en segundo lugar|en tercer lugar": Link.ALSO,
            "igualmente": Link.TOO,
            "por otro lado|otra cosa|y otra cosa": Link.ALSO,
            "por otra parte|asimismo|y una cosa más|una cosa más": Link.ALSO,
            "pero|sino|sin embargo|en cambio": Link.BUT,
            "por favor|porfa|porfavor|oye|hola": Link.POLITE,
            "simplemente|solo": Link.POLITE,
            "primero|en primer lugar|por cierto|bueno|vale|si puedes|si es posible|ok": Link.POLITE,
            "eh|ehm|em|este|pues": Link.POLITE,
            "te pido que|anda|venga|rápido|cuando puedas|gracias de antemano|mira ,": Link.POLITE,
        }
    ),
    frames=some(
        "puedes|podrías|podría|puede|me puedes|me podrías|podrías por favor|puedes por favor",
        "quiero que|necesito que|quisiera que|me gustaría que|te pido que|hazme el favor de",
        "te importaría|te importa|serías tan amable de|quiero saber|necesito saber|debes",
        "me gustaría saber|quisiera saber|tienes que|asegúrate de|acuérdate de|podéis",
        "deberíamos|podríamos|crees que podrías|sería posible que|hay que",
        "sería genial que|haz el favor de|tarea|sería posible|vas a",
    ),
    wants=some(
        "necesito|quiero|quisiera|me gustaría|me hace falta|me vendría bien|desearía|me gustaria"
    ),
    wants_not=some("que"),
    ability=some("hablar|oír|entender|ver|ayudar|nadar|cantar|hablas|creer"),
    talk=Phrases(
        {
            "gracias|muchas gracias|mil gracias|muchísimas gracias|te lo agradezco": Talk.THANKS,
            "gracias por todo|gracias por la ayuda|se agradece": Talk.THANKS,
            "saludos|un saludo|saludos cordiales|un abrazo|atentamente": Talk.GREETING,
            "hola|buenos días|buenas tardes|buenas noches|buenas|adiós|hasta mañana": Talk.GREETING,
            "hasta luego|hasta pronto|nos vemos|chao|chau|qué tal|cómo estás|hasta el lunes": (
                Talk.GREETING
            ),
            "cómo va|que tengas buen día|buen día|hasta ahora": Talk.GREETING,
            "jaja|jeje|lol|ok|okay|vale|genial|perfecto": Talk.CHATTER,
            "guay|bien|muy bien|sí|no|claro": Talk.CHATTER,
            "claro que sí|por supuesto|de acuerdo": Talk.CHATTER,
            "entendido|qué bueno|qué bien|qué risa": Talk.CHATTER,
            "estupendo|fenomenal|excelente|buenísimo": Talk.CHATTER,
            "vaya|ah|ajá|uf|da igual|no importa": Talk.CHATTER,
            "no te preocupes|de nada|lo siento|perdón|felicidades|enhorabuena|cierto": Talk.CHATTER,
            "exacto|interesante|ya veo|buen trabajo": Talk.CHATTER,
            "increíble|me encanta|qué guay|listo": Talk.CHATTER,
        }
    ),
    corrections=some(
        "quería decir|quise decir|me refería a|quiero decir|corrección|mejor dicho|olvídalo",
        "olvida eso",
        "cancélalo|cancela eso|bórralo|anúlalo|cámbialo a|cámbialo al|eso estaba mal|páralo",
        "olvida lo de|olvida lo del|olvídate de lo de|olvídate de lo del|cancela lo de",
        "cancela lo del|deja lo de|deja lo del|quita lo de|quita lo del",
    ),
    rather=some("mejor|mejor que sea|que sea mejor|prefiero"),
    not_corrections=some("que"),
    asking=some(
        "qué|quién|quiénes|cuál|cuáles|cómo|cuándo|dónde|por qué|cuánto|cuánta|cuántos|cuántas",
        "a qué|de qué|en qué",
    ),
    auxiliary=some(
        "has|ha|hay|es|son|está|están|fue|tienes|sabes|crees|puedo|debo|debería|hablas|eres",
        "estás|hiciste|enviaste|mandaste|tengo|tenemos|existe|será|va a",
        "vas a venir|conoces|llegó|ya has|ya está",
    ),
    stating=some(
        "yo|él|ella|nosotros|ellos|mi|mis|el|la|los|las|esto|eso|estoy|estamos|he|hemos|tengo",
        "ayer|hoy he|me he|ya he|ya tengo|es|fue|está|hay|tuve|fui|me duele|nadie|todo|creo",
        "este|esta|su|nuestro|nuestra|hace|soy|acabo de|no sé|no tengo|llegué|ha",
    ),
    was=words("fue estuvo fueron estuvieron"),
    musts=some("hay que|tiene que|debe|debería|deben|necesita|falta"),
    verbs=Phrases(_VERBS),
    final_verbs=Phrases({}),
    task_words=some(
        "recordatorio|recordatorios|tarea|tareas|alarma|alarmas|mandarme|enviarme|recordarme",
        "avisarme|notificaciones|serie|aviso|avisos|escribirme",
    ),
    me=some("me|a mí|para mí|me lo|me la|me los|me las|yo"),
    them=some(
        "le|les|a él|a ella|a ellos|a ellas|se lo|se la|nos|a todos|a alguien|a nosotros|al equipo"
    ),
    to=some("a|al|a la"),
    told=Phrases(
        {
            "que diga|que ponga|con el texto|que dice": Told.LETTER,
            "diciendo|con el mensaje|que rece": Told.LETTER,
            "diciéndole|con las palabras|con este texto|con el siguiente texto": Told.LETTER,
            "que digan|en el que diga|en el que ponga|donde ponga|donde diga": Told.LETTER,
            "y di|que simplemente diga": Told.LETTER,
            "que|diciendo que|diciéndole que|que diga que": Told.STATEMENT,
            "de que|para que|que tengo que recordar": Told.DOING,
            "lo de": Told.BARE,
            "acerca de|sobre|de|del|para|si|cuándo|dónde|cómo|por|qué": Told.TOPIC,
        }
    ),
    said_plainly=frozenset(),
    of_myself=words(
        """yo llego llegaré llegamos estoy estamos estaré voy vamos iré salgo salimos saldré vuelvo
        volvemos volveré tengo tenemos puedo podemos he hemos necesito quiero espero vengo sé creo
        llamo hago pago llevo traigo mando paso recojo ando sigo termino acabo trabajo compro como
        ceno duermo quedo aviso prefiero siento extraño pienso soy"""
    ),
    doing=some("para|de"),
    deed_ends=("ar", "er", "ir", "arme", "erme", "irme", "arlo", "arla", "arle", "erlo", "irlo"),
    slips={
        "recuerdme": "recuerdame",
        "recuedame": "recuerdame",
        "recordame": "recuerdame",
        "acuerdame": "acuerdame",
        "q": "que",
        "k": "que",
        "d": "de",
        "x": "por",
        "pa": "para",
        "tb": "también",
        "xfa": "porfa",
        "xq": "porque",
    },
    guessed_verbs=words("recuérdame mándame envíame avísame investiga traduce compara"),
    guessed_times=words("miércoles viernes sábado domingo"),
    also_tell=words(
        """manda envía pasa escribe avisa di pregunta recuerda informa notifica confirma pide
        responde contesta da muestra enseña entrega publica pon deja sube comunica remite
        reenvía saluda"""
    ),
    subjects=words("yo nosotros estoy tengo voy llego ya"),
    finite=words(
        """es está son están fue será estoy tengo tiene voy va llego llega puedo puede empieza hay
        cumple vive trabaja quiere necesita llama viene sale dice gusta sabe hace pasa funciona he
        ha hemos han cuesta abre cierra parece era estaba tuve hizo llegó perdí olvidé"""
    ),
    third=words("él ella ellos ellas su sus suyo suya le les"),
    not_told=words(""),
    particles=some("al tanto|saber|de vuelta|una línea|cuenta"),
    messages=some(
        "mensaje|un mensaje|el mensaje|una nota|nota|un aviso|lo siguiente|el siguiente mensaje",
        "este mensaje|un mensajito|una notificación|este texto|el siguiente texto|una respuesta",
    ),
    reminders=some("un recordatorio|recordatorio|un breve recordatorio"),
    with_=some("con"),
    results=some(
        "resultado|resultados|lo que encontraste|lo que has encontrado|los más baratos",
        "las más baratas|el más barato|la más barata",
        "la lista|el resultado|los resultados|el resumen|el informe|la respuesta|la tabla",
        "un resumen|una lista|un informe|el borrador|el texto|el documento|lo que encuentres",
        "los mejores|las mejores|las opciones|el enlace|los enlaces|el plan|la traducción",
        "lo que salga|la selección|la comparación|la comparativa|una tabla|un breve resumen",
        "los detalles|las conclusiones|el análisis|los datos|las notas|la mejor opción",
        "la carta|el correo|el poema|el mensaje|el artículo|las mejores opciones|lo mejor",
    ),
    refers=some("lo|la|los|las|esto|eso|todo|todo eso|todo esto|ambos|ambas"),
    by=some("por|vía|mediante|a través de|via"),
    on=some("en|al|a|a mi|en mi|en el|en la|como"),
    articles=words(
        "el la los las un una unos unas mi mis tu tus su sus nuestro nuestra este esta estos ese"
    ),
    one=words("un una otro otra"),
    my=words("mi mis nuestro nuestra nuestros nuestras"),
    roles=words(
        """casero casera jefe jefa mujer marido esposa esposo pareja novia novio hijo hija hermano
        hermana padre papá tío tía primo prima sobrino sobrina abuela abuelo padres hijos amigo
        amiga amigos vecino vecina vecinos compañero compañera médico médica dentista abogado
        abogada gestor gestora profesor profesora entrenador cliente clienta asistente fontanero
        electricista canguro inquilino inquilina proveedor"""
    ),
    nots=some("no|nunca|jamás|no hace falta que|tampoco|ni|no hace falta|no es necesario"),
    not_nots=some(
        "no olvides|no te olvides de|no se te olvide|no olvides que|no dejes de|no te olvides"
    ),
    limits=some(
        "menos de|más de|como máximo|máximo|un máximo de|hasta|por debajo de|no más de|al menos",
        "como mucho|por menos de|de menos de|unos|unas|alrededor de|exactamente|mínimo|bajo",
    ),
    limit_starts=some("en|de|con|por"),
    lengths=some("palabras|frases|líneas|párrafos|puntos|páginas|caracteres|viñetas"),
    without=some("sin|excepto|salvo|menos los|aparte de|evitando"),
    none_of=some("nada|ningún|ninguna|nada de|solo|sólo|solamente|sin|que no sea|que no sean"),
    conditions=some("si|en cuanto|cuando|cada vez que"),
    only_if=some(
        "solo si|sólo si|a menos que|siempre que|siempre y cuando|en caso de que|únicamente si",
        "a no ser que|pero solo si|pero sólo si|salvo que|solo cuando|sólo cuando",
    ),
    relatives=words("que quien cual cuyo donde cuando cómo qué quién si porque cuál dónde cuándo"),
    tongues=some(
        "en español|en inglés|en alemán|en francés|en italiano|en portugués|al inglés|al español",
        "al alemán|al francés|en catalán|en castellano|al italiano|en euskera|en gallego",
        "en lenguaje sencillo|al portugués|en tailandés|en hebreo|en árabe",
    ),
    formats=some(
        "como tabla|en una tabla|como lista|en pdf|como pdf|en una frase|en viñetas|con viñetas",
        "en forma de tabla|en forma de lista|en tono formal|en tono amistoso|palabra por palabra",
        "con fuentes|con enlaces|con precios|ordenado por precio|ordenados por precio|en detalle",
        "en pocas palabras|lo más corto posible|como una tabla|en formato tabla|como una lista",
    ),
    manners=some(
        "que sea|que sean|que no sea|debe ser|debe|tiene que ser|mantenlo|usa|asegúrate|mejor si",
        "a ser posible|preferiblemente|ten en cuenta|el tono|hazlo|procura|que tenga|que tengan",
    ),
    events=words(
        """reunión reuniones vuelo vuelos cita citas cena comida fiesta evento tren viaje
        entrevista llamada clase partido concierto examen conferencia boda cumpleaños desayuno
        reserva salida llegada"""
    ),
    channels=Phrases(
        {
            "email|e-mail|mail|correo|correo electrónico|correos|mi bandeja de entrada": "email",
            "whatsapp|whats app|wasap|guasap|whats|wsp": "whatsapp",
            "dashboard|panel|tablero|panel de control|escritorio": "dashboard",
        }
    ),
    nouns_are_capital=False,
    strong_is_enough=True,
)
