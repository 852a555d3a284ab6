"""The environment of Gymnasium: its checker, episodes that repeat, their end, and what they cost."""

import time
import warnings

import ackord as ak
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="SKIPPED: not installed: gymnasium")
from ackord import gym  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402


@pytest.mark.parametrize("action", ["cwnd", "pacing_rate"])
def test_the_checker_of_gymnasium_finds_nothing(action: str) -> None:
    env = gym.CongestionEnv("lossy-wifi", action=action, set={"duration": "5 s"})  # type: ignore[arg-type]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        check_env(env, skip_render_check=True)
    # An environment that was not made by `gymnasium.make` has no `spec`; large bounds are what rates need.
    texts = [str(it.message) for it in found]
    assert [it for it in texts if "spec" not in it and "space" not in it] == []


def episode(env: gym.CongestionEnv, seed: int, action: float) -> tuple[list[list[float]], float, tuple[bool, bool]]:
    observation, _ = env.reset(seed=seed)
    observations, rewards, end = [observation.tolist()], 0.0, (False, False)
    while not any(end):
        observation, reward, terminated, truncated, _ = env.step(np.array([action]))
        observations.append(observation.tolist())
        rewards += reward
        end = terminated, truncated
    return observations, rewards, end


def test_episodes_repeat_by_seed_and_end_with_the_time() -> None:
    env = gym.CongestionEnv("lossy-wifi", set={"duration": "5 s"})
    first = episode(env, 7, 30.0)
    assert first == episode(env, 7, 30.0) != episode(env, 8, 30.0)
    assert first[2] == (False, True) and 45 <= len(first[0]) <= 51


def test_an_episode_terminates_when_the_transfer_is_complete() -> None:
    change = {"flows.download.traffic": {"kind": "bulk", "size": "200 kB"}, "duration": "30 s"}
    env = gym.CongestionEnv("lossy-wifi", set=change)
    observations, _, end = episode(env, 1, 50.0)
    assert end == (True, False) and len(observations) < 100


def test_an_agent_that_sends_more_gets_more_until_the_link_is_full() -> None:
    def delivered(segments: float) -> float:
        env = gym.CongestionEnv(
            "lossy-wifi", reward=lambda step: step["delivered_bit_s"], set={"links.wifi.loss": "none", "duration": "5 s"},
            on_reset=lambda sim: sim.on("PacketDropped", lambda event: None),
        )  # fmt: skip
        observations, total, _ = episode(env, 1, segments)
        return total / (len(observations) - 1)

    few, more, most = delivered(6), delivered(18), delivered(60)
    assert few < 0.5 * more < most <= 20e6
    # 6 segments of 1460 B, acknowledged in pairs, per 20 ms of round trip and the transmission of two.
    assert few == pytest.approx(6 * 1460 * 8 / 0.0212, rel=0.1)


def test_what_cannot_be_is_refused_before_the_first_episode() -> None:
    for arguments, message in (
        ({"flow": "downlod"}, "did you mean `download`"),
        ({"step": 0}, "`step`"),
        ({"action": "rate"}, "`action`"),
        ({"low": 50, "high": 10}, "`low`"),
    ):
        with pytest.raises(ak.InputError, match=message):
            gym.CongestionEnv("lossy-wifi", **arguments)  # type: ignore[arg-type]
    env = gym.CongestionEnv("lossy-wifi")
    with pytest.raises(ak.InputError, match="reset"):
        env.step([5.0])
    env.reset(seed=1)
    with pytest.raises(ak.InputError, match="a number"):
        env.step([float("nan")])
    assert env.finish().data["ending"] == "interrupted"


def test_an_episode_of_ten_seconds_takes_a_fraction_of_a_second() -> None:
    """The bound of a release build on an idle machine is 50 ms (docs/python.md); here is room for others."""
    env = gym.CongestionEnv("lossy-wifi", set={"duration": "10 s", "flows.download.traffic": {"kind": "bulk"}})
    spent = []
    for seed in range(3):
        began = time.process_time()
        episode(env, seed, 60.0)
        spent.append(time.process_time() - began)
    assert min(spent) < 5.0
