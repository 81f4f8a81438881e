"""What is kept. The only package that speaks SQL.

A store verb is a plain function over a transaction: `tasks.get(tx, task_id)`. A database decides
on which thread and in which transaction it runs: `await db.write(moves.rank, ...)`. So a verb can
be called without an event loop (the command line), and another database needs only its own `Tx`.
"""
