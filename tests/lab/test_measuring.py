"""What is made of samples: cost, who was the bottleneck, which runs do not count, and the plan."""

from labkit import clients, judge, link, network, recipe, runner, scenario, sides, wrk
from labkit.clients import Load
from labkit.cpus import parse_placement
from labkit.measure import Cost, Meter, Snapshot
from labkit.proc import CpuTimes

APART = parse_placement("cli=0,prx=1,srv=2", range(3))
SHARED = parse_placement("cli=0,prx=1,srv=0", range(3))


def cost(cli=0.0, prx=0.0, srv=0.0, used=None, threads=None):
    return Cost(10.0, busy_s={"prx": prx * 10}, used_s=used or {}, utilisation={"cli": cli, "prx": prx, "srv": srv},
                busiest_thread=threads or {})


def test_the_side_that_was_full_set_the_pace():
    assert cost(prx=0.97).bound(APART) == "proxy"
    assert cost(cli=0.93, prx=0.5).bound(APART) == "client"
    assert cost(srv=0.91, prx=0.2).bound(APART) == "server"
    assert cost(cli=0.89, prx=0.89, srv=0.89).bound(APART) == "none"


def test_one_full_thread_of_a_side_is_enough():
    assert cost(prx=0.5, cli=0.3, threads={"cli": 0.98}).bound(APART) == "client"


def test_a_full_proxy_is_the_answer_also_when_the_ends_are_nearly_full():
    assert cost(cli=0.99, prx=0.97, srv=0.9).bound(APART) == "proxy"


def test_a_proxy_that_used_up_its_quota_set_the_pace():
    assert cost(prx=0.3, used={"prx": 2.9}).bound(APART, quota=0.3) == "proxy"
    assert cost(prx=0.2, used={"prx": 1.9}).bound(APART, quota=0.3) == "none"


def test_of_two_sides_on_the_same_cpus_the_busier_one_is_named():
    assert cost(cli=1.0, srv=1.0, prx=0.4, used={"cli": 3.0, "srv": 6.0}).bound(SHARED) == "server"
    assert cost(cli=1.0, srv=1.0, prx=0.4, used={"cli": 6.0, "srv": 3.0}).bound(SHARED) == "client"


class FakeGroups:
    def pids(self, role):
        return []


def snapshot(at, idle, used=0.0, foreign=0.0, steal=0.0):
    cpus = {cpu: CpuTimes(idle[cpu], steal) for cpu in range(3)}
    return Snapshot(at, cpus, {"cli": 0.0, "prx": used, "srv": 0.0}, {r: {} for r in ("cli", "prx", "srv")}, 0,
                    {"cli": 0.0, "prx": foreign, "srv": 0.0}, {})


def test_busy_is_what_is_not_idle_and_what_others_took_is_not_the_proxys():
    meter = Meter(FakeGroups(), APART, {})
    found = meter.cost(snapshot(100, [0, 50, 0]), snapshot(110, [10, 51, 5], used=6.0, foreign=2.0))
    assert found.busy_s["prx"] == 7.0 and found.used_s["prx"] == 6.0
    assert (found.utilisation["cli"], found.utilisation["srv"]) == (0.0, 0.5)
    assert (found.foreign_share, found.utilisation["prx"]) == (0.2, 0.7)


def judged(failure="", died=False, **values):
    values.setdefault("raw", {"requests": 10_000})
    return judge.judge(Load(**values), failure, died)


def test_a_run_counts_unless_there_is_a_reason():
    assert judged() == ""
    assert judged(errors=100) == ""                              # one in a hundred, and the CSV tells them
    assert judged(died=True) == "the proxy died"
    assert judged(wrong=1) == "1 wrong answers"
    assert judged(errors=101).startswith("101 of 10101 exchanges failed")
    assert judged(lag_p99_ms=1.5).startswith("the client was late: 1.5 ms")
    some = {"requests": 10_000, "connects": 100, "resumed": 89}
    assert judged(raw=some, argv=["--tls-resume"]) == "89 of 100 handshakes were resumed" and judged(raw=some) == ""
    assert judged(failure="x does not start").startswith("no run")


def test_a_client_that_contradicts_itself_or_moved_nothing_is_not_believed():
    assert "contradicts" in judged(raw={"bytes": 6_668_288}, gbit=98606.8, seconds=1.0)
    assert "nothing came" in judged(raw={"bytes": 0, "requests": None}, gbit=0.0, seconds=1.0)
    assert judged(raw={"bytes": 125_000_000, "requests": 10}, gbit=1.0, seconds=1.0) == ""


def test_only_reasons_that_lie_in_the_machine_are_given_a_second_try():
    assert judge.by_chance(judged(lag_p99_ms=2)) and judge.by_chance(judge.disturbance(0.5, 0.1))
    assert not any(judge.by_chance(m) for m in (judged(died=True), judged(wrong=1), judged(errors=500), ""))
    assert judge.disturbance(0.1, 0.1) == ""


class Named:
    def __init__(self, name, *families):
        self.name, self.families = name, families

    def serves(self, family):
        return family in self.families


def test_the_order_of_the_proxies_turns_from_repetition_to_repetition():
    peers = [Named("a", "relay"), Named("b", "relay", "http"), Named("c", "relay")]
    plan = runner.build_plan([scenario.parse("relay-ka-1k"), scenario.parse("http-ka-1k")], peers, 3)
    relay = [[i.peer.name for i in plan if i.rep == rep and i.scenario.family == "relay"] for rep in range(3)]
    assert relay == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    assert [i.peer.name for i in plan if i.scenario.family == "http"] == ["b"] * 3


def test_a_mix_holds_what_the_descriptors_allow():
    assert sides.connection_limit(20_000) == 9_000
    assert clients.connections(scenario.parse("mix-relay"), 9_000) == 9_000
    assert clients.connections(scenario.parse("mix-relay"), 500_000) == 20_000


def words(name, limit=9000, **target):
    aim = clients.Target(network.PROXY, recipe.Address("10.0.2.2", 80), target.get("mode", "plain"),
                         target.get("tls", False))
    return " ".join(clients.LoadClient("load", 10, 1).argv(scenario.parse(name), aim, limit, 1))


def test_the_clients_command_lines_say_the_scenario():
    assert "client request --connect 10.0.1.1:8080 --mode plain --connections 2000" in words("relay-ka-2k-50k-2000")
    assert "--answer 51200 --body 2048 --requests-per-connection 0" in words("relay-ka-2k-50k-2000")
    assert "--requests-per-connection 1" in words("relay-close-1k")
    assert "--mode connect" in words("connect-ka-1k", mode="connect")
    assert "--target 10.0.2.2:80" in words("connect-ka-1k", mode="connect") and "--target" not in words("relay-ka-1k")
    assert "client stream" in words("relay-stream16") and "--direction up" in words("relay-stream16")
    assert "--connections 9000" in words("mix-http-3k") and "--active 900 --rate 3000" in words("mix-http-3k")
    assert "--rate" not in words("mix-http")
    assert words("tls-term-ka-1k", tls=True).count("--tls") == 1
    assert "--tls-resume" in words("tls-term-close-1k-resumed", tls=True)


def test_the_same_words_go_to_netem_and_to_our_link():
    spec = link.LinkSpec("delay 5ms loss 0.5%", "20mbit")
    net = network.Network("t")
    tc = [" ".join(c) for c in link.netem_commands(spec, "t-cli") if "qdisc" in c and "add" in c]
    assert [c for c in tc if "netem delay 5ms loss 0.5% limit 10000" in c and "dev c0 root" in c]
    assert [c for c in tc if "fq maxrate 20mbit" in c and "dev ifb0 parent 1:" in c]
    argv = link.user_space_argv(spec, net, "headrace-link", 3)
    assert argv[argv.index("--link") + 1] == "delay 5ms loss 0.5% limit 10000"
    assert argv[argv.index("--flow-rate") + 1] == "20mbit" and argv[argv.index("--a") + 1] == "t-cli:c0:10.0.1.2/24"


def test_a_limit_of_the_users_stays():
    assert link.LinkSpec("delay 1ms limit 50").all_words == "delay 1ms limit 50"
    assert not link.LinkSpec().emulated and str(link.LinkSpec()) == "none"


def test_wrk_and_iperf3_results_are_read(tmp_path):
    asked = wrk.WrkClient._parse_wrk(
        'x\nRESULT {"seconds":2.0,"requests":4000,"errors":1,"timeouts":2,"status":0,"p50":1.5,"p90":2,"p99":3.25}\n',
        scenario.parse("relay-ka-1k"))
    assert (asked.rate, asked.p99_ms, asked.errors, asked.timeouts) == (2000, 3.25, 1, 2)
    assert abs(asked.gbit - 2000 * 1024 * 8 / 1e9) < 1e-12
    iperf = wrk.WrkClient._parse_iperf3('{"end":{"sum_received":{"seconds":2.0,"bits_per_second":5e9}}}')
    assert iperf.gbit == 5.0 and wrk.WrkClient._parse_iperf3("iperf3: error").raw == {}
