"""Tables of the settings that the owner names: `[projects.NAME]`, `[calendars.NAME]`."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Generic, TypeVar, cast

from msgspec import Struct

from remit.errors import BadInput
from remit.model.codec import IT, JsonMap, from_json

T = TypeVar("T", bound=Struct)
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
NAMING: Final = "a name is of small letters, digits, - and _"


class SettingsTable(Struct, Generic[T], frozen=True, kw_only=True):
    """How such a table is parsed."""

    kind: type[T]
    called: str  # its name in the file
    of: str  # what it contains, in a word
    needs: str  # what each entry needs
    wrong: Callable[[T], Iterable[tuple[bool, str]]]  # broken conditions, with their sentences
    name: Callable[[str], bool] = lambda name: NAME.fullmatch(name) is not None
    naming: str = NAMING

    def read(self, value: object, where: str) -> Mapping[str, T]:
        """Parse the whole table; an error is a sentence with its place."""
        if not isinstance(value, Mapping):
            sentence = f"{self.called} in {where} must be a table of {self.of}."
            raise BadInput(sentence, field=self.called)
        return {
            str(name): self._read_entry(str(name), each, f"[{self.called}.{name}] in {where}")
            for name, each in value.items()
        }

    def _read_entry(self, name: str, value: object, where: str) -> T:
        if not self.name(name):
            raise BadInput(f"{where}: {self.naming}.", field=name)
        if not isinstance(value, Mapping):
            raise BadInput(f"{where} must be a table with {self.needs}.", field=name)
        try:
            found = from_json(self.kind, cast("JsonMap", dict(value)), IT)
        except BadInput as error:
            said = str(error)
            known = ", ".join(self.kind.__struct_fields__)
            hint = f" Known: {known}." if "has no field" in said else ""
            raise BadInput(f"{where}: {said}{hint}", field=name) from None
        for holds, sentence in self.wrong(found):
            if holds:
                raise BadInput(f"{where}: {sentence}.", field=name)
        return found
