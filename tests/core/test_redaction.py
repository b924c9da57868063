"""Secrets are taken out of values and texts; everything else stays."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callsheet import AgentResult, OptionError, configure_redaction, redact
from callsheet._redaction import TOO_DEEP, redact_for_display, redact_text, redact_text_for_display
from callsheet._secrets import REDACTED, is_secret_name

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r"


@pytest.mark.parametrize(
    "name",
    [
        "Authorization",
        "Proxy-Authorization",
        "X-Access-Token",
        "access_token",
        "accessToken",
        "refreshtoken",
        "token",
        "csrf-token",
        "Cookie",
        "Set-Cookie",
        "password",
        "db_password",
        "PASSWD",
        "secret",
        "client_secret",
        "clientSecret",
        "api_key",
        "apiKey",
        "APIKey",
        "x-api-key",
        "OPENAI_API_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "privateKey",
        "credentials",
        "jwt",
        "auth",
    ],
)
def test_a_name_that_says_secret(name: str) -> None:
    assert is_secret_name(name)
    assert redact({name: "canary"}) == {name: REDACTED}


@pytest.mark.parametrize(
    "name",
    [
        "author",
        "authorized",
        "key",
        "keys",
        "monkey",
        "max_tokens",
        "input_tokens",
        "total_tokens",
        "token_count",
        "token_type",
        "completion_tokens_details",
        "tokenizer",
        "secretary",
        "cookiecutter",
        "X-Site-Id",
        "session_id",
        "",
    ],
)
def test_a_name_that_does_not(name: str) -> None:
    assert not is_secret_name(name)
    assert redact({name: "visible"}) == {name: "visible"}


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("Authorization: Bearer canary-value", "Authorization: [redacted]"),
        ("got Bearer abcdef123 back", "got Bearer [redacted] back"),
        ("Basic dXNlcjpwYXNz", "Basic [redacted]"),
        (f"jwt is {JWT}.", "jwt is [redacted]"),
        ("truncated eyJhbGciOiJSUzI1NiIs...", "truncated [redacted]"),
        ("use sk-canary-0123456789 now", "use [redacted] now"),
        ("sk-proj-abc_DEF-123456", "[redacted]"),
        ("sk_live_abcdefghijklmnop", "[redacted]"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"),
        ("hf_abcdefghijklmnopqrst", "[redacted]"),
        ("xoxb-12345678-abcdef", "[redacted]"),
        ("AKIAABCDEFGHIJKLMNOP", "[redacted]"),
        ("AIza" + "a" * 35, "[redacted]"),
        ("ya29.abcdefghijk", "[redacted]"),
        ("https://bob:hunter2@host.example/x?y=1", "https://[redacted]@host.example/x?y=1"),
        ("postgres://bob:p%40ss@db:5432/x", "postgres://[redacted]@db:5432/x"),
        ("https://ghtoken@github.example/a", "https://[redacted]@github.example/a"),
        ("postgres://bob:can/ary@db:5432/x", "postgres://[redacted]@db:5432/x"),
        ("curl -u bob:canary https://host.example", "curl -u [redacted] https://host.example"),
        ("curl --user 'bob:canary' x", "curl --user '[redacted]' x"),
        ("curl --proxy-user=bob:canary", "curl --proxy-user=[redacted]"),
        ("?api_key=canary&page=2", "?api_key=[redacted]&page=2"),
        ("password=canary, user=bob", "password=[redacted], user=bob"),
        ("password: 'can ary' and more", "password: '[redacted]' and more"),
        ('{"apiKey": "can\\"ary", "b": 1}', '{"apiKey": "[redacted]", "b": 1}'),
        ('"{\\"token\\": \\"canary\\", \\"b\\": 1}"', '"{\\"token\\": \\"[redacted]\\", \\"b\\": 1}"'),
        ("{'Authorization': 'Bearer canary-value'}", "{'Authorization': '[redacted]'}"),
        ("Cookie: a=canary; b=canary\nHost: x", "Cookie: [redacted]\nHost: x"),
        ("AWS_SECRET_ACCESS_KEY=canary/x+y", "AWS_SECRET_ACCESS_KEY=[redacted]"),
        ('api_key="canary', 'api_key="[redacted]'),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\ncanary\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[redacted]\nb",
        ),
        ("-----BEGIN PRIVATE KEY-----\ncanary", "[redacted]"),
        ("Config(api_key=['canary', 1], x=2)", "Config(api_key=[redacted], x=2)"),
        ("{'token': {'v': 'can]ary'}, 'x': 1}", "{'token': [redacted], 'x': 1}"),
        ("secrets=Box(a=('canary',), b='it\\'s )') and more", "secrets=[redacted] and more"),
        ("password: (isn't canary) ok", "password: [redacted] ok"),
        ("token=['canary", "token=[redacted]"),
        ('{\\"token\\": [\\"canary\\", 1], \\"b\\": 2}', '{\\"token\\": [redacted], \\"b\\": 2}'),
        ("token=[canary", "token=[redacted]"),
        ('secret = """can"ary""" + 1', 'secret = """[redacted]""" + 1'),
        ("{b'password': b'canary'}", "{b'password': b'[redacted]'}"),
        ("[('x-api-key', 'canary', 3)]", "[('x-api-key', '[redacted]', 3)]"),
        ("ValueError(b'password', b'canary')", "ValueError(b'password', b'[redacted]')"),
        ('{"name": "X-Api-Key", "value": "canary"}', '{"name": "X-Api-Key", "value": "[redacted]"}'),
        ("run --db-password canary --verbose", "run --db-password [redacted] --verbose"),
        ("run --token 'can ary' x", "run --token '[redacted]' x"),
        ("postgres://bob:can@ary@db:5432/x", "postgres://[redacted]@db:5432/x"),
    ],
)
def test_a_secret_in_a_text(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The bearer of this gets a cookie.",
        "a basic understanding of tokens",
        "max_tokens=100, total_tokens: 42",
        "tokens: 15",
        "task-1234567890 and risk-averse",
        "mail bob@example.com about https://example.com/@bob",
        "get http://localhost:8080/@scope/package",
        "get http://[::1]:8080/@scope/package",
        "docker run -u 1000:1000 image",
        "sort -u names.txt: then --user-agent x:y",
        "the secret is out",
        "tokenizer: fast",
        "2026-01-02T03:04:05Z",
        "token=[], password={ }, secret=()",
        "token_count=(1, 2) and (max_tokens=[3])",
        "('city', 'password')",
        "a --password --verbose",
        '{"name": "city", "value": "Oslo"}',
    ],
)
def test_a_text_without_one_stays(text: str) -> None:
    assert redact_text(text) == text


def test_a_long_list_of_urls_is_read_once_and_not_once_per_url() -> None:
    urls = "redis://host:6379,http://a:b|" * 100_000
    assert redact_text(urls) == urls


def test_redacting_twice_is_redacting_once() -> None:
    text = f"Authorization: Bearer {JWT}; password='x y' https://a:b@c sk-abcdefghijk"
    assert redact_text(redact_text(text)) == redact_text(text)


def test_structures_keep_their_shape() -> None:
    value = {
        "headers": [("Authorization", "canary"), ["X-Site-Id", "1"]],
        "header": {"name": "X-Api-Key", "value": "canary"},
        "plain": {"name": "city", "value": "Oslo"},
        "cookies": {"sid": "canary", "n": 1, "on": True, "none": None, "empty": ""},
        "set": {"sk-canary-1234"},
        "frozen": frozenset({"ok"}),
        "tuple": ("a", "b", 3),
        "bytes": b"token=canary",
        7: MappingProxyType({"api_key": b"canary"}),
        "sk-canary-5678": 1,
        "passwords": ["canary", ("canary", 5)],
    }
    assert redact(value) == {
        "headers": [("Authorization", REDACTED), ["X-Site-Id", "1"]],
        "header": {"name": "X-Api-Key", "value": REDACTED},
        "plain": {"name": "city", "value": "Oslo"},
        "cookies": {"sid": REDACTED, "n": REDACTED, "on": True, "none": None, "empty": ""},
        "set": {REDACTED},
        "frozen": frozenset({"ok"}),
        "tuple": ("a", "b", 3),
        "bytes": b"token=[redacted]",
        7: {"api_key": REDACTED.encode()},
        REDACTED: 1,
        "passwords": [REDACTED, (REDACTED, REDACTED)],
    }


def test_token_counts_stay_and_token_lists_do_not() -> None:
    assert redact({"tokens": 5}) == {"tokens": 5}
    assert redact({"tokens": ["canary"]}) == {"tokens": [REDACTED]}
    assert redact({"secrets": {"tokens": 5}}) == {"secrets": {"tokens": REDACTED}}


def test_the_original_is_not_touched() -> None:
    value = {"password": "canary", "list": [{"token": "canary"}]}
    redact(value)
    assert value == {"password": "canary", "list": [{"token": "canary"}]}


@dataclass
class Login:
    user: str
    password: str


def test_the_halves_of_a_tuple_key_are_a_name_and_a_value() -> None:
    assert redact({("password", "canary"): 1}) == {("password", REDACTED): 1}
    assert redact({frozenset({("token", "canary")}): 1}) == {frozenset({("token", REDACTED)}): 1}
    assert redact({(1, "Bearer canary-value"): 1}) == {(1, "Bearer [redacted]"): 1}


def test_a_key_that_can_not_be_copied_becomes_text() -> None:
    @dataclass(frozen=True)
    class Login:
        password: str

    assert redact({(Login("canary"), 1): "x"}) == {"({'password': '[redacted]'}, 1)": "x"}


def test_header_names_may_be_bytes() -> None:
    assert redact({b"authorization": b"canary"}) == {b"authorization": b"[redacted]"}
    assert redact([(b"cookie", b"canary"), (b"host", b"x")]) == [(b"cookie", b"[redacted]"), (b"host", b"x")]


def test_dataclasses_become_dicts() -> None:
    assert redact([Login("bob", "canary")]) == [{"user": "bob", "password": REDACTED}]
    headers = redact(AgentResult(headers={"X-Access-Token": "canary"}))["headers"]
    assert headers == {"X-Access-Token": REDACTED}


def test_other_objects_are_handed_over_unless_their_name_says_secret() -> None:
    thing = object()
    assert redact({"thing": thing, "kind": Login}) == {"thing": thing, "kind": Login}
    assert redact({"secret": thing}) == {"secret": REDACTED}


def test_cycles_survive() -> None:
    value: dict[str, Any] = {"password": "canary"}
    value["self"] = value
    value["list"] = [value]
    copy = redact(value)
    assert copy["password"] == REDACTED
    assert copy["self"] is copy
    assert copy["list"][0] is copy
    loop: list[Any] = []
    loop.append((loop,))
    assert redact(loop)[0][0] is not loop


def test_one_object_in_a_secret_and_an_open_place_is_redacted_in_the_secret_one() -> None:
    shared = ["canary"]
    assert redact({"open": shared, "secret": shared}) == {"open": ["canary"], "secret": [REDACTED]}


def test_deep_nesting_ends_in_a_note() -> None:
    value: Any = "canary"
    for _ in range(100_000):
        value = [value]
    copy, depth = redact(value), 0
    while isinstance(copy, list):
        copy, depth = copy[0], depth + 1
    assert copy == TOO_DEEP
    assert depth > 100


def test_a_long_text_is_no_problem() -> None:
    text = "token " * 500_000 + "password=canary"
    assert redact_text(text).endswith("password=[redacted]")


def test_further_names_patterns_and_values() -> None:
    value = {"SocialNumber": "canary", "note": "ACME-123 and hunter2", "token": "visible"}
    with configure_redaction(
        keys=["social_number"], patterns=[r"ACME-\d+"], values=["hunter2"], keep=["token"]
    ):
        assert redact(value) == {
            "SocialNumber": REDACTED,
            "note": "[redacted] and [redacted]",
            "token": "visible",
        }
    assert redact({"token": "canary"}) == {"token": REDACTED}


@pytest.fixture
def _restored() -> Iterator[None]:
    with configure_redaction():
        yield


@pytest.mark.usefixtures("_restored")
def test_without_a_block_the_change_stays_and_adds_up() -> None:
    configure_redaction(keys=["ssn"])
    configure_redaction(keys=["iban"])
    assert redact({"ssn": "canary", "iban": "canary"}) == {"ssn": REDACTED, "iban": REDACTED}


def test_redaction_can_be_switched_off() -> None:
    with configure_redaction(enabled=False):
        assert redact({"token": "seen"}) == {"token": "seen"}
        assert redact_text("token=seen") == "token=seen"
        with configure_redaction(enabled=True):
            assert redact_text("token=canary") == "token=[redacted]"


@pytest.mark.parametrize(
    ("options", "advice"),
    [({"patterns": ["("]}, r"'\(' is no regular expression"), ({"values": [""]}, "match everywhere")],
)
def test_settings_that_can_not_work_are_refused(options: dict[str, Any], advice: str) -> None:
    with pytest.raises(OptionError, match=advice):
        configure_redaction(**options)


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=8),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["a", "password", "token"]), inner),
    )
)
@settings(max_examples=50)
def test_no_value_under_a_secret_name_survives(value: Any) -> None:
    def leaves(node: Any, *, secret: bool) -> Iterator[Any]:
        if isinstance(node, dict):
            for key, item in node.items():
                yield from leaves(item, secret=secret or key != "a")
        elif isinstance(node, list):
            for item in node:
                yield from leaves(item, secret=secret)
        elif secret:
            yield node

    assert {leaf for leaf in leaves(redact(value), secret=False) if isinstance(leaf, str)} <= {REDACTED, ""}


def test_for_display_equal_secrets_look_equal_and_different_ones_different() -> None:
    first, second, again = (
        redact_for_display({"token": secret, "n": 1})["token"] for secret in ("canary1", "canary2", "canary1")
    )
    assert first == again != second
    assert first.startswith("[redacted ")
    assert "canary" not in first
    texts = [redact_text_for_display(f"token='{secret}'") for secret in ("canary1", "canary2")]
    assert texts[0] != texts[1]


def test_for_display_objects_stay_what_they_are() -> None:
    class Point(NamedTuple):
        token: str

    login, point, matcher = Login("bob", "canary"), Point("canary"), object()
    shown = redact_for_display([login, point, {"password": matcher}, ("a", b"sk-canary-1234567")])
    assert shown[0] is login
    assert shown[1] != point
    assert repr(shown[1]).startswith("Point(token='[redacted ")
    assert shown[2] == {"password": matcher}
    assert shown[3][1].startswith(b"[redacted ")
    text = redact_text_for_display(repr(shown))
    assert "canary" not in text
    assert "Login(user='bob', password='[redacted " in text


def test_for_display_it_can_be_switched_off_too() -> None:
    with configure_redaction(enabled=False):
        assert redact_for_display({"token": "seen"}) == {"token": "seen"}
        assert redact_text_for_display("token=seen") == "token=seen"
