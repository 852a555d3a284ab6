"""Scenarios that are put together: checked by the one checker, printed as the same file."""

import string

import ackord as ak
import pytest
from ackord._ackord import Checked
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("name", sorted(ak.scenarios()))
def test_a_file_read_and_printed_means_the_same(name: str) -> None:
    scenario = ak.Scenario.open(name)
    assert scenario.check().hash == Checked.open(name, []).hash
    assert ak.Scenario.of(scenario.toml()) == scenario


def test_a_scenario_is_put_together_and_run() -> None:
    s = ak.Scenario(duration="5 s")
    s.host("a")
    s.host("b")
    s.link("a", "b", rate="10 Mbit/s", delay="20 ms", queue="fq-codel")
    s.flow("a", "b", congestion="cubic")
    result = ak.run(s)
    goodput = result.flows.column("goodput_bit_s")[0]
    assert 5e6 < goodput <= 10e6
    assert ak.Scenario.of(s.toml()) == s


def test_a_half_built_scenario_says_what_is_missing() -> None:
    s = ak.Scenario(duration="5 s")
    with pytest.raises(ak.InputError, match="flows"):
        s.check()
    s.host("a")
    s.flow("a", "b", congestin="cubic")
    with pytest.raises(ak.InputError) as raised:
        s.check()
    assert "did you mean `congestion`" in str(raised.value)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(string.ascii_lowercase, max_size=5), inner, max_size=3),
    max_leaves=5,
)
paths = st.sampled_from(
    ["duration", "seed", "links.0.queue", "links.0.rate", "flows.0.tcp", "flows.0.tcp.congestion",
     "flows.0.start", "tcp", "hosts.station", "record.captures", "no.such.key", "", "flows.*.traffic"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(paths | st.text(max_size=10), values, max_size=3))
def test_no_value_of_python_gets_past_the_checker(changes: dict[str, object]) -> None:
    """A panic would be a `PanicException`, which is no `Exception`."""
    try:
        ak.Scenario.open("lossy-wifi").check(changes)  # type: ignore[arg-type]
    except ak.InputError:
        pass
