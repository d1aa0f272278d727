"""The HTTP API of the browser: parse, ask, respond. ``http_api.md`` is its description."""
