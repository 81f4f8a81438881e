"""How one asks in English."""

from typing import Final

from remit.intake.lexicon.english_time import TIME
from remit.intake.lexicon.shape import (
    ASK,
    BOOK,
    GIVE,
    MAIL,
    PLACE,
    REMIND,
    SEND,
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
from remit.language.phrases import Phrases, some, words

_VERBS: Final[dict[str, Verb]] = {
    "send|forward|deliver|resend|send out|send over": SEND,
    "share|sharing": SHARE,
    "give|drop|show|hand|get back to|report back to": GIVE,
    "report to|shoot|fire off|pass|pass on|pop": GIVE,
    "post|put|publish|upload|add|place|pin|leave": PLACE,
    "tell|inform|notify|alert|message|text|ping|dm|update|warn|let|reply to": TELL,
    "write|write to|writing": WRITE,
    "text message|get hold of|confirm|confirm to|nudge|wish|say|say to": TELL,
    "let me know|keep me posted|keep me updated|get back to me|report back|wake me": TELL_ME,
    "notify me|alert me|warn me|inform me|ping me": TELL_ME,
    "ask|ask back": ASK,
    "remind": REMIND,
    "don't let me forget|do not let me forget|set a reminder|set me a reminder": _REMIND_ME,
    "need to remember|i need to remember|i must remember|must remember": _REMIND_ME,
    "never let me forget|give me a nudge|give me a reminder|drop me a reminder": _REMIND_ME,
    "set up a reminder|make a reminder|create a reminder|add a reminder": _REMIND_ME,
    "i need a reminder|i want a reminder|reminder|set an alarm|set me an alarm": _REMIND_ME,
    "email|e-mail|mail": MAIL,
    "emailed|e-mailed|mailed": MAIL,
    "whatsapp": WHATSAPP,
    "sent|delivered|forwarded": GIVE,
    "stop|cancel|abort|pause|delete|remove|unschedule|skip": STOP,
    "forget|forget about|scrap|kill|turn off|switch off|disable|mute": STOP,
    "book|reserve|schedule|arrange|plan|order|set up|organize|organise": BOOK,
    "research|find|find out|find me|look up|look into|look for|look at|search|search for": WORK,
    "check|check out|check on|check whether|check if|compare|compile|collect|gather": WORK,
    "summarise|summarize|sum up|analyse|analyze|review|read|go through|proofread|edit": WORK,
    "draft|compose|prepare|create|make|make me|build|design|develop|implement|code|fix": WORK,
    "translate|calculate|compute|count|estimate|list|rank|sort|pick|choose|recommend": WORK,
    "suggest|propose|explain|describe|investigate|explore|examine|inspect|verify|test": WORK,
    "run|execute|start|install|deploy|refactor|debug|document|outline|brainstorm": WORK,
    "monitor|watch|track|keep an eye on|keep track of|follow|follow up on|figure out": WORK,
    "work out|dig up|dig into|pull|pull together|put together|fetch|get|get me|download": WORK,
    "update me on|clean up|tidy up|organise my|organize my|rewrite|rephrase|shorten": WORK,
    "call|buy|pay|renew|register|sign up|apply|submit|print|backup|back up|take": WORK,
    "learn|study|evaluate|assess|audit|convert|merge|split|extract|generate|come up with": WORK,
    "do|have a look at|take a look at|take care of|deal with|handle|process|finish|complete": WORK,
    "help me|walk me through|turn|use|open|see|see if|see whether|double-check|identify": WORK,
    "looking into|finding|checking|comparing|researching|summarising|summarizing": WORK,
    "drafting|preparing|looking up|looking for|making|reading|reviewing": WORK,
    "sending|forwarding|dropping|shooting": SEND,
    "emailing|mailing": MAIL,
    "reminding": REMIND,
    "telling|letting|messaging|texting|pinging": TELL,
}

_COMMON: Final = """
a an the this that these those my your his her its our their some any all both each every
i you he she it we they me him us them who whom whose what which when where why how
am is are was were be been being do does did done have has had having will would can could shall
should may might must not no nor and or but so if then than because as while though although
of to in on at by for from with without about into onto over under after before between through
during until since per via out up down off again there here very too also just only please
i'm i've i'll i'd it's that's there's what's who's let's don't doesn't didn't isn't aren't can't
won't you're you've we're they're well
"""

ENGLISH: Final = Language(
    code="en",
    time=TIME,
    common=words(_COMMON),
    links=Phrases(
        {
            "and|plus|as well as|&|+|n|'n": Link.AND,
            "as well|too|again": Link.TOO,
            "then|and then|afterwards|after that|and after that": Link.THEN,
            "next|and finally|finally": Link.THEN,
            "once done|when done|when you're done|once that's done|when finished": Link.THEN,
            "once you're done|when you are done|and when you're done|and once done": Link.THEN,
            "also|and also|in addition|additionally|besides|separately|one more thing": Link.ALSO,
            "oh and|and another thing|another thing|secondly|apart from that": Link.ALSO,
            "second :|second ,|third :|third ,|thirdly|fourthly": Link.ALSO,
            "but|but rather|however|instead": Link.BUT,
            "please|pls|plz|kindly|just|simply|so|um|uh|uhm|umm|erm|ehm": Link.POLITE,
            "hey|hi|hello|ok|okay|well|now then|yes": Link.POLITE,
            "btw|by the way|quick one|quick question|first|firstly|first of all": Link.POLITE,
            "to start with|if you can|if possible|if you don't mind|thanks in advance": Link.POLITE,
            "when you get a chance|for me|real quick|quickly|lastly|sure": Link.POLITE,
        }
    ),
    frames=some(
        "can you|could you|would you|will you|can u|could u|would u|can you please",
        "could you please|would you please|would you mind|do you mind|would you be able to",
        "are you able to|i need you to|i want you to|i'd like you to|i would like you to",
        "i'd love you to|i want to know|i need to know|i'd like to know|i would like to know",
        "you should|you could|you need to|you have to|make sure to|be sure to|remember to",
        "make sure you|it would be great if you could|it would be nice if you could",
        "i was wondering if you could|i wonder if you could|feel free to|go ahead and",
        "how about you|why don't you|let's|let us|is it possible to|may i ask you to",
        "i'd appreciate it if you could|i would appreciate it if you could|maybe you could",
        "your task is to|your job is to|task|todo|to do|any chance you could|any chance you can",
        "i was thinking you could|do you think you could|perhaps you could|i was hoping you could",
        "is there any chance you could|we should|we could|we need to|you might want to|you can",
        "yo|heya|hiya|i want that you|i need that you|i would like that you|i'd like that you",
        "gonna need you to",
        "going to need you to|gonna need u to|need you to|want you to|i'm gonna need you to",
        "i'm going to need you to|i am going to need you to",
        "i'd be grateful if you could|i would be grateful if you could|would it be possible to",
    ),
    wants=some(
        "i need|i want|i'd like|i would like|we need|can i get|could i get|may i have",
        "can i have|could i have|i'd love|i could use|i'd appreciate|would love|i would love",
    ),
    wants_not=some("to|you"),
    ability=some(
        "speak|hear|understand|see|help|swim|remember|do|be|believe|imagine|come|talk|feel",
        "think|know|sing|guess|tell me what|tell me who|tell me when|tell me why|tell me how",
        "tell me where|tell me if|tell me whether|tell me which|handle|even|really|access",
    ),
    talk=Phrases(
        {
            "thanks|thank you|thx|ty|ta|cheers|thanks a lot": Talk.THANKS,
            "thank you so much|many thanks": Talk.THANKS,
            "much appreciated|thanks so much|thanks again|appreciated|tysm": Talk.THANKS,
            "good morning|good evening|good afternoon": Talk.GREETING,
            "regards|best regards|kind regards|warm regards|best wishes": Talk.GREETING,
            "all the best|yours sincerely|sincerely|yours truly|many greetings": Talk.GREETING,
            "good night|hi|hello|hey|hi there": Talk.GREETING,
            "hey there|howdy|morning|bye|goodbye|see you": Talk.GREETING,
            "see you later|see you tomorrow": Talk.GREETING,
            "see you soon|talk to you later|talk soon|how are you|what's up|sup|yo": Talk.GREETING,
            "see you on|see ya|later|have a nice day": Talk.GREETING,
            "have a good one|good to see you": Talk.GREETING,
            "lol|lmao|rofl|haha|hehe|wow|cool|nice": Talk.CHATTER,
            "great|awesome|perfect|ok|okay|k|kk": Talk.CHATTER,
            "sure|yes|no|yep|yeah|yup|nope|nah|right": Talk.CHATTER,
            "fine|alright|got it|i see|hmm|hm": Talk.CHATTER,
            "omg|oops|ouch|no way|never mind|nevermind": Talk.CHATTER,
            "no worries|no problem|all good": Talk.CHATTER,
            "great job|good work|nice work|great work|nice job|nice one|awesome job": Talk.CHATTER,
            "sounds good|good job|well done|good to know": Talk.CHATTER,
            "makes sense|understood|agreed": Talk.CHATTER,
            "exactly|indeed|interesting|amazing|brilliant": Talk.CHATTER,
            "lovely|oh|ah|aha|whatever|meh": Talk.CHATTER,
            "sorry|my bad|congrats|congratulations|you're welcome|you are welcome": Talk.CHATTER,
            "hope you're well|i hope you're well|hope you are well|hope all is well": Talk.GREETING,
            "hope you're doing well|i hope you are well": Talk.GREETING,
            "nice to meet you|long time no see": Talk.GREETING,
            "love it|that's great|that's perfect": Talk.CHATTER,
            "that's it|good point|fair enough|true": Talk.CHATTER,
        }
    ),
    corrections=some(
        "i meant|i mean|i actually meant|make that|scratch that|correction|change that to",
        "change it to|move it to|forget it|forget that|forget about it|forget about that|undo that",
        "cancel it|cancel that|stop it|stop that|undo it|scrap that|scrap it|that was wrong",
        "make it|actually make it|actually , make it|actually make that|scrap the thing about",
        "scrap the one about|forget about|forget the thing about|forget the one about",
        "cancel the thing about|cancel the one about|drop the thing about|never mind the",
    ),
    rather=some("rather|better|actually|actually ,|make it rather|actually rather"),
    not_corrections=some("to"),
    asking=some(
        "what|what's|whats|who|who's|whom|whose|which|when|when's|where|where's|why|how|how's",
        "any idea|any news|so what",
    ),
    auxiliary=some(
        "is|are|am|was|were|do|does|did|have|has|had|isn't|aren't|don't you|doesn't|didn't",
        "should|shall|may i|can i|could i|can we|could we|will it|will i|will we|will the|would it",
        "would i|haven't|hasn't|wasn't|won't|can it|can that|could it|could that|can the",
        "may we|must i|do you|did you|have you|are you|were you|is it|is there",
    ),
    stating=some(
        "i|i'm|i've|i'd|i'll|we|we're|we've|we'll|he|he's|she|she's|it|it's|they|they're|there",
        "there's|that|that's|this|my|our|his|her|their|the|you|you're|you've|these|those|nobody",
        "someone|everyone|everything|today was|yesterday|your",
    ),
    was=words("was were wasn't weren't"),
    musts=some("needs to be|need to be|has to be|have to be|must be|should be|needs|ought to be"),
    verbs=Phrases(_VERBS),
    final_verbs=Phrases({}),
    task_words=some(
        "reminder|reminders|task|tasks|alarm|alarms|sending|reminding|messaging|texting",
        "emailing|notifying|pinging|notifications|notification|delivery|series|run",
    ),
    me=some("me|myself|to me|to myself|me too"),
    them=some(
        "him|her|them|us|everyone|everybody|someone|somebody|all of them|both of them|the team",
        "the group|the family|the others|my team|our team|the whole team",
    ),
    to=some("to|over to|out to"),
    told=Phrases(
        {
            "saying|that says|which says|that reads|which reads|with the text": Told.LETTER,
            "with the words|with the message|with text|it should say|that should say": Told.LETTER,
            "with the following text|with this text|with the content|stating|and say": Told.LETTER,
            "that just says|which just says|that simply says": Told.LETTER,
            "just saying|simply saying": Told.LETTER,
            "to say|and write|with these words|in these words|just say|with the note": Told.LETTER,
            "saying that|to say that|stating that": Told.LETTER,
            "that|a note that|a message that|a text that|a quick note that": Told.STATEMENT,
            "to|2|not to|in order to|that i need to|that i have to|that i should": Told.DOING,
            "about|of|regarding|for|concerning|re": Told.TOPIC,
            "on|why|how|whether|if|what|when|where": Told.TOPIC,
        }
    ),
    said_plainly=frozenset({Told.STATEMENT, Told.DOING, Told.BARE}),
    of_myself=frozenset(),
    doing=some(),
    deed_ends=(),
    slips={
        "dont": "don't",
        "doesnt": "doesn't",
        "didnt": "didn't",
        "isnt": "isn't",
        "cant": "can't",
        "wont": "won't",
        "im": "i'm",
        "ive": "i've",
        "whats": "what's",
        "ill": "i'll",
        "msg": "message",
        "txt": "text",
        "u": "you",
        "ur": "your",
        "rmnd": "remind",
        "rmd": "remind",
        "remnd": "remind",
        "tmrw": "tomorrow",
        "tmw": "tomorrow",
        "tomo": "tomorrow",
        "2moro": "tomorrow",
        "2morrow": "tomorrow",
    },
    guessed_verbs=words("remind research translate summarise summarize compare whatsapp email"),
    guessed_times=words(
        "tomorrow monday tuesday wednesday thursday friday saturday sunday weekday weekdays"
    ),
    also_tell=frozenset(),
    subjects=words(
        "i i'm i've i'll i'd we we're we've we'll you you're you'll it it's there there's that's"
    ),
    finite=words(
        """is are was were am will would has have had can can't could should shall must may might
        isn't aren't wasn't won't don't doesn't didn't 's it's starts begins ends moved changed
        leaves arrives lands departs goes comes needs wants likes loves hates lives works takes got
        went said says told called forgot lost broke closes opens looks seems feels expires ran
        means costs happened came took made gave found thinks knows sounds stopped started"""
    ),
    third=words("he she they him her his hers their theirs them himself herself themselves he's"),
    not_told=words("the a an my your his her our their this that these those"),
    particles=some("know|a line|a shout|a hand|back|over|posted|updated|up|out|off|straight away"),
    messages=some(
        "message|messages|msg|note|text|notification|chat message|a message|a note|a text",
        "a quick message|a short message|a quick note|a short note|a heads-up|a heads up",
        "a ping|a notification|an alert|an update|the message|a quick text|the following",
        "the following message|this message|the following text|a short text|an answer|a reply",
    ),
    reminders=some(
        "a nudge|a little nudge|a quick nudge|a reminder|reminder|a quick reminder",
        "a short reminder|a gentle reminder",
    ),
    with_=some("with|containing|including"),
    results=some(
        "results|outcome|findings",
        "the list|the results|the result|the summary|the report|the answer|the outcome|the output",
        "the table|the shortlist|the findings|the draft",
        "the overview|the text|the document|the file",
        "what you find|what you found|what you learn|what comes out|whatever you find|a summary",
        "a list|a report|an overview|a table|a short summary",
        "the best ones|the best one|the options",
        "the top three|the top 3|the top five|the link|the links|the plan|the translation|the post",
        "the whole thing|the final version|the finished text|the top result|the comparison",
        "your findings|your answer|your results|a brief summary|the notes|the recap|a recap",
        "the email|the mail|the letter|the winner|the digest|the brief|the numbers|the details",
        "a quick summary|the cheapest one|the cheapest|the best option|the top one|the full list",
        "the poem|the message|the analysis|the review|the write-up|the essay|the story|the article",
    ),
    refers=some("it|them|this|that|these|those|everything|all of it|all of that|the same|both"),
    by=some("via|by|through|over|using|per"),
    on=some("on|in|into|to|onto|at|as"),
    articles=words("the a an my your our his her their this that these those some"),
    one=words("a an another one"),
    my=words("my our"),
    roles=words(
        """landlord landlady boss manager wife husband partner girlfriend boyfriend son daughter
        brother sister father dad uncle aunt cousin nephew niece grandma grandpa parents kids
        friend friends neighbour neighbor neighbours neighbors colleague colleagues coworker
        doctor dentist lawyer accountant teacher tutor coach trainer client customer assistant
        plumber electrician cleaner babysitter nanny roommate flatmate tenant supplier agent"""
    ),
    nots=some(
        "don't|do not|dont|never|not|no need to|please don't|you don't have to|you needn't",
        "you do not have to|there's no need to|there is no need to|rather not|refrain from",
        "must not|mustn't|should not|shouldn't|hold off on|wait with|nor|cannot",
    ),
    not_nots=some(
        "don't forget to|do not forget to|dont forget to|never forget to|don't forget and",
        "don't hesitate to|please don't forget to|don't fail to",
    ),
    limits=some(
        "under|below|at most|max|max.|maximum|a maximum of|no more than|not more than|less than",
        "fewer than|up to|at least|more than|no longer than|not longer than|not exceeding|over",
        "above|minimum|roughly|exactly|within|no less than|cheaper than|no fewer than",
    ),
    limit_starts=some("in|with|of|for"),
    lengths=some(
        "words|word|sentences|sentence|paragraphs|lines|bullet points|bullets|pages|characters",
    ),
    without=some("without|except|except for|excluding|other than|apart from|avoiding|leaving out"),
    none_of=some("no|nothing|none|not|only|nobody|just one|not too|nothing too"),
    conditions=some("if|when|once|whenever|as soon as|assuming|even if|after"),
    only_if=some(
        "only if|unless|only when|provided|provided that|as long as|in case|only in case",
        "so long as|only after|but only if|only once|if and only if",
    ),
    relatives=words("who which that whose where when how what why whether because while if as"),
    tongues=some(
        "in english|in german|in spanish|in french|in italian|in portuguese|in dutch|in polish",
        "in russian|in hebrew|in arabic|in thai|in japanese",
        "in chinese|in turkish|in greek|in hindi|into greek|into polish|into russian|into arabic",
        "to english|to german|to spanish|to french|to italian|to portuguese|to dutch|to polish",
        "to russian|to hebrew|to arabic|to thai|to japanese|to chinese|to turkish|to greek",
        "into english|into german|into spanish|into french|into italian|into portuguese|into dutch",
        "in plain english|in simple english|into japanese|into chinese|into thai|into hebrew",
    ),
    formats=some(
        "as a table|as a list|as bullet points|as a pdf|as pdf|as a bulleted list|as a csv|as csv",
        "in bullet points|as a numbered list|as an attachment|in plain text|as plain text",
        "in a table|as markdown|in markdown|as a poem|in one sentence|in a friendly tone",
        "in a formal tone|in a casual tone|word for word|in detail|in a few words|in short",
        "in your own words|in layman's terms|in simple words|as short as possible|one by one",
        "sorted by price|sorted by date|sorted by rating|with sources|with links|with prices",
    ),
    manners=some(
        "keep it|keep them|make it|make them|make sure|be|it should|it must|they should|they must",
        "use|stick to|limit it to|focus on|it needs to",
        "it has to|keep the|should be|must be|ideally",
        "preferably|bear in mind|keep in mind|note that|remember that|avoid|include|the tone",
    ),
    events=words(
        """meeting meetings call calls flight flights appointment appointments dinner lunch party
        event train trip interview standup session class lesson game match show concert webinar
        conference workshop exam deadline departure arrival reservation booking breakfast date"""
    ),
    channels=Phrases(
        {
            "email|e-mail|mail|emails|my inbox|inbox": "email",
            "whatsapp|whats app|whatsap|wa": "whatsapp",
            "dashboard|the app": "dashboard",
        }
    ),
    nouns_are_capital=False,
    strong_is_enough=False,
)
