"""What a model said and which tools it called, read from provider payloads and streams.

Every payload becomes a sequence of events (`_source`, `_sse`), a whole response being a sequence of
one. `_detect` tells the format, one reader per provider feeds a `Transcript`, and the transcript
becomes an `AgentResult`. The readers are pure: nothing here needs a provider's SDK.
"""

from callsheet._parsing._parse import parse_response, parse_stream

__all__ = ["parse_response", "parse_stream"]
