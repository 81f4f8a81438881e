"""The store on Postgres: the same verbs, over its own connection, schema and a few statements.

The `.sql` files of this folder overrule statements of the same name in the folder above.
"""

from datetime import datetime

from remit.errors import BadInput
from remit.store import rows
from remit.store.database import Tx, single


def refuse_without_driver() -> None:
    """Say which extra is missing, if Postgres cannot be spoken to."""
    try:
        import psycopg  # noqa: F401, PLC0415 - an extra
    except ImportError:
        sentence = (
            "[store] names a Postgres database: install it with `pip install remit[postgres]`."
        )
        raise BadInput(sentence, field="url") from None


@single
def database_time(tx: Tx) -> datetime:
    """Return the time of the server."""
    (row,) = tx.ask("SELECT remit_now(0) AS now")
    return rows.parse_time(row["now"])
