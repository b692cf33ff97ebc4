"""Names of scenarios, proxies and CPUs: what they mean, and what is refused."""

import pytest
from labkit import cpus, recipe, scenario
from labkit.errors import LabError

KINDS = recipe.load_kinds()


@pytest.mark.parametrize("name, wanted", [
    ("relay-stream1", dict(family="relay", kind="stream", connections=1, down=False)),
    ("socks-stream1-down", dict(family="socks", kind="stream", connections=1, down=True)),
    ("connect-stream16", dict(kind="stream", connections=16)),
    ("http-ka-1k", dict(kind="request", connections=64, answer_bytes=1024, body_bytes=0, requests_per_connection=0)),
    ("http-ka-1m", dict(connections=16, answer_bytes=1 << 20)),
    ("relay-ka-50k-2000", dict(connections=2000, answer_bytes=51200, body_bytes=0)),
    ("relay-ka-2k-50k-2000", dict(connections=2000, answer_bytes=51200, body_bytes=2048)),
    ("tls-term-close-1k", dict(family="tls-term", connections=64, requests_per_connection=1)),
    ("tls-term-close-1k-resumed", dict(family="tls-term", requests_per_connection=1, resumed=True)),
    ("mix-relay", dict(kind="mix", family="relay", rate=0)),
    ("mix-tls-init-3k", dict(kind="mix", family="tls-init", rate=3000)),
    ("idle-connect-5000", dict(kind="idle", connections=5000)),
    ("rate-relay-500", dict(kind="rate", rate=500)),
    ("message-socks-2000", dict(kind="message", connections=2000)),
])
def test_a_scenarios_name_says_everything(name, wanted):
    found = scenario.parse(name)
    assert {key: getattr(found, key) for key in wanted} == wanted


@pytest.mark.parametrize("name", ["", "relay", "relay-ka", "ftp-ka-1k", "relay-ka-1k-", "relay-ka-50-2000",
                                  "mix-relay-3k-3k", "relay-stream", "relay-close-1k-resumed",
                                  "tls-term-ka-1k-resumed", "idle-relay", "relay-ka-1g"])
def test_what_is_no_scenario_is_none(name):
    assert scenario.parse(name) is None


def test_every_standard_name_is_of_the_grammar_and_unique():
    assert all(scenario.parse(name) for name in scenario.STANDARD)
    assert len(set(scenario.STANDARD)) == len(scenario.STANDARD)


def test_bulk_is_told_in_gigabits():
    assert [scenario.parse(n).bulk for n in ("relay-stream1", "http-ka-1m", "http-ka-50k-2000", "mix-http")] == \
        [True, True, False, False]


def test_sets_patterns_and_names_are_selected_in_order_each_once():
    chosen = [s.name for s in scenario.select(["relay-ka-1k", "relay-ka-*", "mix-http-7k"])]
    assert chosen == ["relay-ka-1k", "relay-ka-1m", "relay-ka-50k-2000", "relay-ka-2k-50k-2000", "mix-http-7k"]


@pytest.mark.parametrize("word", ["nothing", "relay-zz-*"])
def test_a_selection_of_nothing_is_refused(word):
    with pytest.raises(LabError):
        scenario.select([word])


@pytest.mark.parametrize("word, kind, path, options, name", [
    ("nginx", "nginx", None, (), "nginx"),
    ("nginx::ktls", "nginx", None, ("ktls",), "nginx-ktls"),
    ("nginx:ktls", "nginx", None, ("ktls",), "nginx-ktls"),
    ("haproxy:splice", "haproxy", None, ("splice",), "haproxy-splice"),
    ("3proxy:/bin/true:label=devel:-s0:-g8000,2,2", "3proxy", "/bin/true", ("-s0", "-g8000,2,2"),
     "3proxy-devel-s0-g8000,2,2"),
    ("3proxy:/bin/true:ktls", "3proxy", "/bin/true", ("ktls",), "3proxy-ktls"),
    ("headrace:/bin/true:label=before:splice=never", "headrace", "/bin/true", ("splice=never",),
     "headrace-before-splice=never"),
])
def test_a_proxys_word_gives_recipe_path_options_and_name(word, kind, path, options, name):
    peer = recipe.parse_peer(word, KINDS)
    assert (peer.kind, peer.chosen, peer.name) == (kind, options, name)
    if path:
        assert peer.binary.endswith("true") or peer.binary.endswith("coreutils")


@pytest.mark.parametrize("word", ["apache", "nginx:splice", "nginx:/does/not/exist", "headrace:/bin/true:splice"])
def test_unknown_proxies_options_and_paths_are_refused(word):
    with pytest.raises(LabError):
        recipe.parse_peer(word, KINDS)


def test_commas_part_proxies_but_not_the_numbers_of_an_option():
    assert recipe.split_words(["nginx,haproxy", "3proxy:/p:-g8000,2,2,squid"]) == \
        ["nginx", "haproxy", "3proxy:/p:-g8000,2,2", "squid"]


def test_splicing_proxies_are_known_by_their_options():
    words = {"nginx": False, "haproxy": False, "haproxy:splice": True, "haproxy:splice-forced": True,
             "3proxy:/bin/true:label=devel": True, "3proxy:/bin/true:label=devel:-s0": False,
             "3proxy:/bin/true:label=1.0.1:copying": False, "headrace:/bin/true": True,
             "headrace:/bin/true:splice=never": False}
    assert {w: recipe.parse_peer(w, KINDS).splices for w in words} == words


def test_cpu_lists_of_the_sides():
    placement = cpus.parse_placement("cli=0-2,5,prx=3,srv=0", available=range(8))
    assert (placement.cli, placement.prx, placement.srv) == ({0, 1, 2, 5}, {3}, {0})
    assert str(placement) == "cli=0-2,5,prx=3,srv=0"
    assert placement.ends_share and not placement.proxy_shares


@pytest.mark.parametrize("text", ["cli=0,prx=1", "cli=0,prx=1,srv=9", "cli=0,prx=x,srv=1", "cli=0,prx=2-1,srv=0"])
def test_cpus_that_are_missing_or_not_there_are_refused(text):
    with pytest.raises(LabError):
        cpus.parse_placement(text, available=range(4))


@pytest.mark.parametrize("count, wanted", [
    (1, "cli=0,prx=0,srv=0"), (2, "cli=0,prx=1,srv=0"), (3, "cli=0,prx=1,srv=2"), (4, "cli=0-1,prx=2,srv=3"),
    (8, "cli=0-3,prx=4,srv=5-7")])
def test_the_proxy_gets_one_cpu_and_the_client_most_of_the_rest(count, wanted):
    assert str(cpus.default_placement(range(count))) == wanted


def test_masks_for_packet_steering_are_words_of_32_bits():
    assert [cpus.hex_mask(c) for c in ({0}, {0, 1, 4}, {33})] == ["1", "13", "2,00000000"]


@pytest.mark.parametrize("name, seconds", [
    ("relay-ka-1k", 0), ("http-ka-50k-2000", 2), ("socks-ka-10k-999", 0), ("socks-ka-10k-1000", 2),
    ("relay-stream16", 0), ("message-relay-5000", 2), ("idle-relay-8000", 0), ("mix-http", 0),
])
def test_loads_of_many_connections_have_a_warm_up_of_their_own(name, seconds):
    assert scenario.parse(name).least_warmup_s == seconds
