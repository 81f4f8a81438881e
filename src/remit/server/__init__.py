"""The HTTP server: every route, guarded, on loopback only.

Nothing outside this package imports Starlette, Uvicorn or pydantic; `files` imports none of them.
"""
