"""What the owner is told, joined: which event, where, in what words, and by what it goes."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from remit import notify
from remit.converse.tidings import Here, Tells
from remit.deliver.courier import Courier
from remit.deliver.herald import Herald
from remit.deliver.notice_carry import Around
from remit.deliver.notice_text import Words
from remit.deliver.push import Around as Browsers
from remit.deliver.push import Push
from remit.model.delivery import Delivery, Keeps
from remit.model.event import Event
from remit.model.ids import Ids
from remit.model.notice import Post, Telling
from remit.model.permit import Reach, Unsure
from remit.model.task import Task
from remit.notify.ways import Rules, Standing
from remit.settings import Notices, Settings
from remit.store.redact import Redactor
from remit.store.secrets import Secrets, machine_ring
from remit.wiring.ground import Ground

_HERE = "127.0.0.1"


class Wishes:
    """What the owner wants to be told; he may change it while Remit runs."""

    def __init__(self, settings: Settings) -> None:
        self.notices: Notices = settings.notices
        self.url = f"http://{_HERE}:{settings.server.port}"  # where the dashboard listens

    def now(self) -> Notices:
        return self.notices

    def root(self) -> str:
        """Where a link leads: where the owner says the dashboard is, or where it listens."""
        return self.notices.link or self.url


class Told(Struct, frozen=True):
    """All that tells the owner something, put together."""

    wishes: Wishes
    push: Push  # tells browsers when no page is open
    herald: Herald  # tells over browsers and channels what was decided
    tells: Tells  # decides it


def join(ground: Ground, ids: Ids, courier: Courier, hide: Redactor) -> Told:
    wishes = Wishes(ground.settings)
    push, rules = _push(ground, hide, wishes), _rules(ground, wishes)
    made = Herald(_around(ground, ids, courier, rules, push, wishes))
    return Told(wishes, push, made, _tells(rules, made.ring))


def _push(ground: Ground, hide: Redactor, wishes: Wishes) -> Push:
    home = ground.settings.home

    def kept() -> Secrets:
        # With the keyring in any case: a file made beside it would hide all that it keeps.
        return Secrets(home, machine_ring(), hide)

    return Push(Browsers(ground.db, ground.clock, kept, wishes.now))


def _rules(ground: Ground, wishes: Wishes) -> Rules:
    names = [name for name, each in ground.channels.items() if each.keeps is not Keeps.TRANSACTION]
    return Rules(wishes.now, ground.settings.deliver.quiet_hours, ground.zone, names)


def _tells(found: Rules, ring: Callable[[], None]) -> Tells:
    """What is told of the journal, as the rules have it."""

    def concerns(event: Event) -> bool:
        news = notify.news(event)
        return news is not None and bool(found.wishes().ways(news))

    def posts(telling: Telling, task: Task | None, here: Here) -> tuple[Post, ...]:
        stands = Standing(here.now, here.channel, here.digested, here.listens)
        return found.posts(telling.news, task, stands)

    def many(tellings: Sequence[Telling]) -> str:
        return notify.many(tellings)

    return Tells(concerns, notify.telling, posts, many, ring)


def _around(
    ground: Ground, ids: Ids, courier: Courier, rules: Rules, push: Push, wishes: Wishes
) -> Around:
    def reach(channel: str) -> Reach | Unsure:
        return courier.reach(Delivery(channel), None)

    channels = {name: each for name, each in ground.channels.items() if name in rules.channels}
    return Around(
        db=ground.db,
        clock=ground.clock,
        ids=ids,
        zone=ground.zone,
        channels=channels,
        reach=reach,
        push=push,
        words=Words(ground.settings.agent, ground.redact, wishes.root),
        wishes=wishes.now,
        next_digest=rules.next_digest,
        background=ground.background,
    )
