"""Storage. The only package that uses SQL.

A store verb is a plain function over a transaction: `tasks.get(tx, task_id)`. A database decides
the thread and the transaction: `await db.write(moves.rank, ...)`. So a verb works without an event
loop (command line), and another database needs only its own `Tx`.
"""
