"""How one says when in Spanish."""

from typing import Final

from remit.intake.lexicon.shape import Part, TimeWords, Unit, Which
from remit.language.phrases import Phrases, some

_NUMBERS: Final = {
    "un|uno|una": 1,
    "dos": 2,
    "tres": 3,
    "cuatro": 4,
    "cinco": 5,
    "seis": 6,
    "siete": 7,
    "ocho": 8,
    "nueve": 9,
    "diez": 10,
    "once": 11,
    "doce": 12,
    "trece": 13,
    "catorce": 14,
    "quince": 15,
    "dieciséis": 16,
    "diecisiete": 17,
    "dieciocho": 18,
    "diecinueve": 19,
    "veinte": 20,
    "veintiuno|veintiuna": 21,
    "veintidós": 22,
    "veintitrés": 23,
    "veinticuatro": 24,
    "veinticinco": 25,
    "treinta": 30,
    "cuarenta": 40,
    "cuarenta y cinco": 45,
    "cincuenta": 50,
    "sesenta": 60,
    "noventa": 90,
}
_ORDINALS: Final = {
    "primer|primero|primera": 1,
    "segundo|segunda": 2,
    "tercer|tercero|tercera": 3,
    "cuarto|cuarta": 4,
    "quinto|quinta": 5,
    "último|ultima|última": -1,
}
_WORKDAYS: Final = (0, 1, 2, 3, 4)

TIME: Final = TimeWords(
    numbers=Phrases(_NUMBERS),
    spans=Phrases(
        {"un|una": 1, "media": 0.5, "hora y media": 1.5, "un par de": 2, "una hora y media": 1.5}
    ),
    and_half=Phrases({"y media": 0.5, "y medio": 0.5, "y cuarto": 0.25}),
    units=Phrases(
        {
            "segundo|segundos": Unit.SECOND,
            "minuto|minutos|min|minutitos": Unit.MINUTE,
            "hora|horas|h": Unit.HOUR,
            "día|días": Unit.DAY,
            "semana|semanas": Unit.WEEK,
            "mes|meses": Unit.MONTH,
            "año|años": Unit.YEAR,
        }
    ),
    quarter_hours=Phrases(
        {"cuarto de hora": 15, "tres cuartos de hora": 45, "hora y media": 90, "media hora": 30}
    ),
    ordinals=Phrases(_ORDINALS),
    ordinal_ends=some("º|ª|o"),
    weekdays=Phrases(
        {
            "lunes|lun": 0,
            "martes": 1,
            "miércoles|mié": 2,
            "jueves|jue": 3,
            "viernes|vie": 4,
            "sábado|sáb": 5,
            "domingo": 6,
        }
    ),
    on_weekdays=Phrases(
        {
            "los lunes": (0,),
            "los martes": (1,),
            "los miércoles": (2,),
            "los jueves": (3,),
            "los viernes": (4,),
            "los sábados": (5,),
            "los domingos": (6,),
            "entre semana|los días laborables|los días hábiles|días laborables": _WORKDAYS,
            "los fines de semana": (5, 6),
        }
    ),
    months=Phrases(
        {
            "enero|ene": 1,
            "febrero|feb": 2,
            "marzo": 3,
            "abril|abr": 4,
            "mayo": 5,
            "junio|jun": 6,
            "julio|jul": 7,
            "agosto|ago": 8,
            "septiembre|setiembre|sep|sept": 9,
            "octubre|oct": 10,
            "noviembre|nov": 11,
            "diciembre|dic": 12,
        }
    ),
    days=Phrases(
        {
            "hoy|el día de hoy": (0, None),
            "esta mañana": (0, Part.MORNING),
            "esta tarde": (0, Part.AFTERNOON),
            "esta noche": (0, Part.NIGHT),
            "mañana": (1, None),
            "pasado mañana": (2, None),
            "ayer": (-1, None),
            "anteayer": (-2, None),
            "anoche": (-1, Part.NIGHT),
        }
    ),
    parts=Phrases(
        {
            "de la mañana|por la mañana|en la mañana|mañanas": Part.MORNING,
            "de la tarde|por la tarde|en la tarde|del mediodía|tardes": Part.AFTERNOON,
            "de la noche|por la noche|en la noche|noches": Part.NIGHT,
            "de la madrugada|de madrugada": Part.SMALL_HOURS,
        }
    ),
    named=Phrases(
        {"al mediodía|a mediodía|el mediodía": (12, 0), "medianoche|a medianoche": (24, 0)}
    ),
    at=some("a las|a la|las|la"),
    on=some("el|este|el día|este próximo|para este"),
    which=Phrases({"el próximo|próximo|el siguiente": Which.COMING}),
    which_after=Phrases({"que viene|próximo": Which.COMING}),
    next_week=some("de la semana que viene|de la próxima semana|la semana que viene"),
    of=some("de|del"),
    the_day=some("el|el día|día|los días"),
    inside=some("dentro de|en|de aquí a"),
    roughly=some("unos|unas|exactamente|aproximadamente|más o menos|como"),
    from_now=some("a partir de ahora|desde ahora"),
    every=some("cada|todos los|todas las|una vez cada|una vez al|una vez a la|una vez por"),
    other=Phrases({"segundo|segunda": 2, "tercer": 3}),
    each_month=some("de cada mes|cada mes|de todos los meses|todos los meses"),
    the_month=some("del mes|de mes|al mes"),
    adverbs=Phrases(
        {
            "diariamente|a diario": Unit.DAY,
            "semanalmente": Unit.WEEK,
            "mensualmente": Unit.MONTH,
            "anualmente": Unit.YEAR,
        }
    ),
    weekend=Phrases(
        {
            "día laborable|día hábil|días laborables|días hábiles": _WORKDAYS,
            "fin de semana|fines de semana": (5, 6),
            "sábados": (5,),
            "domingos": (6,),
        }
    ),
    every_part=Phrases({"mañana": Part.MORNING, "tarde": Part.AFTERNOON, "noche": Part.NIGHT}),
    from_=some("de"),
    through=some("a|hasta|al|-|–"),
    half_before=Phrases({}),
    past=Phrases({}),
    half_after=Phrases({"y media": 30, "y cuarto": 15, "menos cuarto": -15}),
    plus=Phrases({"y": 1, "menos": -1}),
    oclock=some("en punto"),
    am_pm=Phrases({"am|a.m.|a. m.": 0, "pm|p.m.|p. m.": 12}),
    hour_marks=some("h|hs|horas"),
    now=some("ahora|ahora mismo|ya|ya mismo|de inmediato|inmediatamente|enseguida|cuanto antes"),
    vague=some(
        "más tarde|pronto|luego más tarde|en un rato|dentro de un rato|algún día|un día de estos",
        "la semana que viene|la próxima semana|el mes que viene|el próximo mes|esta semana",
        "este mes|este fin de semana|el fin de semana|el fin de semana que viene|a fin de mes",
        "en unos minutos|en unas horas|en unos días|dentro de unos minutos|dentro de unos días",
        "a media mañana|a media tarde|después de comer|al final del día|a última hora",
        "a primera hora|de vez en cuando|regularmente|a veces|en algún momento|la semana pasada",
        "dentro de poco|en breve|antes de comer|a la hora de comer|por la mañanita",
    ),
    deadline=some("antes de|antes del|hasta|a más tardar|como muy tarde|como tarde|hasta el"),
    after=some("después de|a partir de|sobre|hacia|a eso de|alrededor de|no antes de"),
    about=some("para|de|del|sobre|desde|entre|durante|que abren|que abra|al|con fecha de"),
    zone_ends=some("hora local"),
    zone_starts=some("hora de|horario de|hora"),
    until=some("hasta|hasta el"),
    month_end=some("finales de|el final de|fin de|el fin de|fines de|el último día de|final de"),
    ends=Phrases(
        {
            "fin de mes|final de mes|finales de mes|el final del mes|el fin de mes": 0,
            "fin de año|final de año|finales de año|el final del año": 12,
        }
    ),
    lasting=some("durante|durante las próximas|durante los próximos|por|las próximas|los próximos"),
    long=Phrases({}),
    times=some("veces|veces más"),
    digital_is_24=True,
    bare_day=True,
    day_first=True,
)
