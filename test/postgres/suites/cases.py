"""Runs cases and prints one line of JSON for each: its name, and its result or its error.

The first argument is the connection URI, the second `direct`, `unpooled` or `pooled`.
"""

import datetime
import decimal
import json
import sys

URI, MODE = sys.argv[1], sys.argv[2]


def printable(value):
    """What json cannot print, as text with its type, so that two types never print the same."""
    if isinstance(value, dict):
        return {str(key): printable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [printable(inner) for inner in value]
    if value is None or type(value) in (str, int, bool):
        return value
    if isinstance(value, (bytes, memoryview)):
        return {"bytes": bytes(value).hex() if len(value) < 1000 else len(value)}
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta, decimal.Decimal)):
        return {type(value).__name__: str(value)}
    return {type(value).__name__: repr(value)}


def run(name, work, describe_error, needs_session=False):
    """A case that needs a session of its own does not run through the pooler, which shares sessions."""
    if needs_session and MODE == "pooled":
        return
    try:
        outcome = {"result": printable(work())}
    except Exception as error:  # Errors are results, too.
        outcome = {"error": printable(describe_error(error))}
    name = name.replace("_", " ").replace("tls", "TLS")
    print(json.dumps({"case": name, **outcome}, sort_keys=True), flush=True)
