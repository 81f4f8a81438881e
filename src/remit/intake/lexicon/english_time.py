"""How one says when in English."""

from typing import Final

from remit.intake.lexicon.shape import Part, TimeWords, Unit, Which
from remit.language.phrases import Phrases, some

_NUMBERS: Final = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
    "twenty five|twenty-five": 25,
    "thirty": 30,
    "forty|fourty": 40,
    "forty five|forty-five": 45,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
}
_ORDINALS: Final = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "eleventh": 11,
    "twelfth": 12,
    "fifteenth": 15,
    "twentieth": 20,
    "last": -1,
}
_WORKDAYS: Final = (0, 1, 2, 3, 4)

TIME: Final = TimeWords(
    numbers=Phrases(_NUMBERS),
    spans=Phrases(
        {
            "a|an|one": 1,
            "half a|half an|a half": 0.5,
            "a couple of|a couple": 2,
            "one and a half": 1.5,
        }
    ),
    and_half=Phrases({"and a half": 0.5, "and a quarter": 0.25}),
    units=Phrases(
        {
            "second|seconds|sec|secs|s": Unit.SECOND,
            "minute|minutes|min|mins|m": Unit.MINUTE,
            "hour|hours|hr|hrs|h": Unit.HOUR,
            "day|days|d": Unit.DAY,
            "week|weeks|wk|wks|w": Unit.WEEK,
            "month|months": Unit.MONTH,
            "year|years": Unit.YEAR,
        }
    ),
    quarter_hours=Phrases(
        {"quarter of an hour": 15, "quarter hour": 15, "half hour|half an hour": 30}
    ),
    ordinals=Phrases(_ORDINALS),
    ordinal_ends=some("st|nd|rd|th"),
    weekdays=Phrases(
        {
            "monday|mon": 0,
            "tuesday|tue|tues": 1,
            "wednesday|wed|weds": 2,
            "thursday|thu|thur|thurs": 3,
            "friday|fri": 4,
            "saturday|sat": 5,
            "sunday|sun": 6,
        }
    ),
    on_weekdays=Phrases(
        {
            "mondays": (0,),
            "tuesdays": (1,),
            "wednesdays": (2,),
            "thursdays": (3,),
            "fridays": (4,),
            "saturdays": (5,),
            "sundays": (6,),
            "weekdays|workdays|work days|working days|mon-fri|monday-friday": _WORKDAYS,
            "weekends": (5, 6),
        }
    ),
    months=Phrases(
        {
            "january|jan": 1,
            "february|feb": 2,
            "march|mar": 3,
            "april|apr": 4,
            "may": 5,
            "june|jun": 6,
            "july|jul": 7,
            "august|aug": 8,
            "september|sep|sept": 9,
            "october|oct": 10,
            "november|nov": 11,
            "december|dec": 12,
        }
    ),
    days=Phrases(
        {
            "today": (0, None),
            "tonight": (0, Part.NIGHT),
            "this morning": (0, Part.MORNING),
            "this afternoon": (0, Part.AFTERNOON),
            "this evening": (0, Part.EVENING),
            "tomorrow|tmrw|tmr|tomorow|2moro|2morrow|2mrw": (1, None),
            "the day after tomorrow|day after tomorrow": (2, None),
            "yesterday": (-1, None),
            "the day before yesterday": (-2, None),
            "last night": (-1, Part.NIGHT),
        }
    ),
    parts=Phrases(
        {
            "in the morning|morning|mornings": Part.MORNING,
            "in the afternoon|afternoon|afternoons": Part.AFTERNOON,
            "in the evening|evening|evenings": Part.EVENING,
            "at night|night|nights": Part.NIGHT,
            "in the small hours": Part.SMALL_HOURS,
        }
    ),
    named=Phrases({"noon|midday": (12, 0), "midnight": (24, 0)}),
    at=some("at|@|at like"),
    on=some("on|this|this coming|coming|on this|on the"),
    which=Phrases({"next|on next": Which.NEXT}),
    which_after=Phrases({}),
    next_week=some("next week|of next week|the following week"),
    of=some("of"),
    the_day=some("the|on the"),
    inside=some("in"),
    roughly=some("exactly|precisely|about|around|roughly|approximately|just"),
    from_now=some("from now|hence"),
    every=some("every|each|every single|on every|once every|once each|once a|once per"),
    other=Phrases({"other": 2, "second": 2, "third": 3}),
    each_month=some("of each month|of every month|each month|every month|a month"),
    the_month=some("of the month|in the month|of a month"),
    adverbs=Phrases(
        {
            "daily": Unit.DAY,
            "hourly": Unit.HOUR,
            "weekly": Unit.WEEK,
            "monthly": Unit.MONTH,
            "yearly|annually": Unit.YEAR,
        }
    ),
    weekend=Phrases({"weekday|workday|working day|work day": _WORKDAYS, "weekend": (5, 6)}),
    every_part=Phrases({}),
    from_=some("from"),
    through=some("to|through|thru|till|until|-|–"),
    half_before=Phrases(
        {"half past": 30, "quarter past|a quarter past": 15, "quarter to|a quarter to": -15}
    ),
    past=Phrases({"past|minutes past|after": 1, "to|minutes to|before": -1}),
    half_after=Phrases({"thirty": 30, "fifteen": 15, "forty-five|forty five": 45}),
    plus=Phrases({}),
    oclock=some("o'clock|oclock|sharp"),
    am_pm=Phrases({"am|a.m.|a.m": 0, "pm|p.m.|p.m": 12}),
    hour_marks=some("h"),
    now=some(
        "now|right now|right away|immediately|asap|at once|straight away|as soon as possible",
        "this instant|instantly|this minute",
    ),
    vague=some(
        "later|later today|later on|soon|sometime|some time|at some point|in a bit|in a while",
        "in a few minutes|in a few hours|in a few days|in a moment|in a minute or two|eventually",
        "next week|next month|next year|next time|this week|this month|end of day|eod",
        "by the end of the day|at the weekend|on the weekend|this weekend|next weekend|one day",
        "at the end of the month|at lunchtime|after lunch|before lunch|after work|at dinner",
        "in due course|in some days|sometime next week|sometime tomorrow|first thing",
        "first thing tomorrow|first thing in the morning",
        "from time to time|regularly|every so often",
        "now and then|every now and then|once in a while|at the right time|in good time",
        "at the end of the week|last week|last month|the other day|at lunch|around noon",
    ),
    deadline=some(
        "by|before|until|till|no later than|not later than|by no later than|at the latest by",
        "latest|due|due by|due on",
    ),
    after=some("after|around|about|approximately|roughly|from|sometime after|not before"),
    about=some(
        "for|from|about|of|since|between|during|to|scheduled for|planned for|as of|than|through",
        "born|dated|starting|beginning",
    ),
    zone_ends=some("time|local time"),
    zone_starts=some("time in"),
    until=some("until|till|til|through|up to|up until"),
    month_end=some("the end of|end of|the last day of"),
    ends=Phrases(
        {
            "the end of the month|end of the month|the end of this month|month's end": 0,
            "the end of the year|the end of this year|the year's end|year's end": 12,
        }
    ),
    lasting=some("for the next|for|over the next|for the coming|during the next"),
    long=some("long"),
    times=some("times|more times"),
    digital_is_24=False,
    bare_day=False,
    day_first=None,
)
