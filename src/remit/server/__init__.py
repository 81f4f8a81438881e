"""The HTTP server: every route, guarded, on loopback only.

Nothing outside this package imports Starlette or Uvicorn; `files` imports none of them.
"""
