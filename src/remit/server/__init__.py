"""The HTTP door: every route, guarded, on loopback alone.

Nothing outside this package imports Starlette, Uvicorn or pydantic; `files` imports none of them.
"""
