"""Congestion control as an environment of Gymnasium. Needs ``gymnasium`` (``pip install 'ackord[gym]'``).

Examples:
    >>> from ackord import gym
    >>> env = gym.CongestionEnv("lossy-wifi", step="100 ms", set={"duration": "10 s"})
    >>> observation, info = env.reset(seed=7)
    >>> observation, reward, terminated, truncated, info = env.step([40.0])  # 40 segments
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise ImportError("ackord.gym needs gymnasium: `pip install 'ackord[gym]'` installs it") from error

from ackord._ackord import Checked, FlowState, InputError
from ackord._values import Value
from ackord.runs import Result
from ackord.scenario import Scenario, checked
from ackord.simulation import Simulation

__all__ = ["FIELDS", "CongestionEnv", "power"]

#: The fields of an observation, in order. Those of the step that has passed: rates over its length, counts in it.
FIELDS = (
    "cwnd_segments",
    "pipe_segments",
    "srtt_s",
    "min_rtt_s",
    "delivered_bit_s",
    "acked_bit_s",
    "sent_bit_s",
    "retransmitted_segments",
    "timeouts",
    "pacing_rate_bit_s",
)

#: Larger than every value of an observation.
_MOST = 1e12
#: The largest window of RFC 7323 §2.3, 1 GiB, in small segments.
_MOST_SEGMENTS = 1e6

Reward = Callable[[Mapping[str, float]], float]


def power(step: Mapping[str, float]) -> float:
    """Returns the logarithm of delivered rate over round-trip time (Kleinrock's power), and zero where nothing
    was delivered or no round trip is known: the reward that an environment has without one of yours."""
    if step["delivered_bit_s"] <= 0 or step["srtt_s"] <= 0:
        return 0.0
    return float(np.log(step["delivered_bit_s"] / 1e6 / step["srtt_s"]))


class CongestionEnv(gymnasium.Env[NDArray[np.float64], NDArray[np.float64]]):
    """A sender whose window or rate an agent sets, once per step of simulated time.

    An observation is a vector of float64 with the fields of :data:`FIELDS`: congestion window and bytes in the
    network (RFC 6675's pipe) in segments, smoothed and shortest round-trip time in seconds (zero while unknown),
    rates over the step that has passed in bit/s (delivered in order to the receiver; newly acknowledged; sent,
    retransmissions included), segments retransmitted and retransmission timeouts in it, and the pacing rate in
    bit/s, zero where there is none.

    An action is a vector of one number: the congestion window in segments, or the pacing rate in bit/s. It holds
    from the beginning of its step and is clipped to the action space. With ``action="pacing_rate"`` the window is
    twice the pacing rate times the smoothed round-trip time, and at least ten segments. What is lost, and what is
    sent again, is decided by the endpoint's own loss detection and recovery.

    An episode begins when the flow's connection is established. It is *terminated* when the connection has closed,
    as when a transfer of a given size is complete, and *truncated* when the scenario's duration has passed.

    Args:
        scenario: the name of a built-in one, a path, or a :class:`ackord.Scenario`.
        flow: the flow whose sender the agent controls; the only one where there is no name.
        step: the simulated time between two actions: a text with a unit, or seconds.
        action: what the agent sets: ``"cwnd"`` or ``"pacing_rate"``.
        reward: a function of the step that has passed, by field: a dict with those of :data:`FIELDS` and
            ``time_s``. :func:`power` where it is absent.
        low: the smallest action.
        high: the largest action.
        set: values at paths, as ``--set`` takes them.
        on_reset: called with each new :class:`ackord.Simulation` before its first step: to change links later
            on, or to receive events.

    Raises:
        InputError: if the scenario is not sound, has no such flow, or a value is out of range.
    """

    #: What Gymnasium asks of every environment: nothing is rendered.
    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  the type that Gymnasium has

    def __init__(
        self,
        scenario: Scenario | Checked | str | PathLike[str],
        *,
        flow: str | None = None,
        step: str | float = "100 ms",
        action: Literal["cwnd", "pacing_rate"] = "cwnd",
        reward: Reward = power,
        low: float | None = None,
        high: float | None = None,
        set: Mapping[str, Value] | None = None,
        on_reset: Callable[[Simulation], object] | None = None,
    ) -> None:
        if action not in ("cwnd", "pacing_rate"):
            raise InputError(f'`action` is {action!r}: "cwnd" or "pacing_rate" is allowed')
        self._scenario = checked(scenario, set)
        self._step, self._action, self._reward, self._on_reset = step, action, reward, on_reset
        least, most = (1.0, 1000.0) if action == "cwnd" else (1e4, 1e9)
        least, most = least if low is None else low, most if high is None else high
        bounds = (1.0, _MOST_SEGMENTS) if action == "cwnd" else (1.0, _MOST)
        if not bounds[0] <= least < most <= bounds[1]:
            raise InputError(
                f"`low` is {least} and `high` is {most}: `low` from {bounds[0]:g}, and below `high` up to "
                f"{bounds[1]:g}, are allowed"
            )
        self._low, self._high = least, most
        #: One number: segments, or bit/s.
        self.action_space = gymnasium.spaces.Box(least, most, (1,), np.float64)
        #: The fields of :data:`FIELDS`.
        self.observation_space = gymnasium.spaces.Box(0.0, _MOST, (len(FIELDS),), np.float64)
        # A flow or a step that cannot be is refused here and not at the first reset.
        trial = Simulation(self._scenario, series=False)
        self._flow = trial.flow(flow).name
        trial.run_for(step)
        if trial.time_s <= 0:
            raise InputError(f"`step` is {step!r}: more than no time is allowed")
        self._sim: Simulation | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Begins an episode, and runs until the connection is established.

        Args:
            seed: of the scenario's random draws; episodes with the same seed and actions are equal. Without it the
                environment draws one.
            options: none are known.
        """
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(1 << 32)) if seed is None else seed
        self._sim = sim = Simulation(self._scenario, seed=drawn, series=False)
        if self._on_reset is not None:
            self._on_reset(sim)
        while not sim.is_over and sim.flow(self._flow).state in ("Listen", "SynSent", "SynReceived"):
            sim.run_for(self._step)
        self._before = sim.flow(self._flow)
        self._before_s = sim.time_s
        return self._observed(self._before, 0.0), {"time_s": sim.time_s, "seed": drawn}

    def step(
        self, action: NDArray[np.float64] | list[float]
    ) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Sets the window or the rate, and runs for a step.

        ``info`` has ``time_s``, and the fields of the observation by name.
        """
        sim = self.simulation
        given = float(np.asarray(action, dtype=np.float64).reshape(-1)[0])
        if given != given:
            raise InputError(f"`action` is {action!r}: a number is allowed")
        value = min(max(given, self._low), self._high)
        if not sim.is_over:
            self._steer(value)
            sim.run_for(self._step)
        now = sim.flow(self._flow)
        observation = self._observed(now, sim.time_s - self._before_s)
        self._before, self._before_s = now, sim.time_s
        fields: dict[str, float] = dict(zip(FIELDS, observation.tolist(), strict=True))
        info = fields | {"time_s": sim.time_s}
        terminated = now.state in ("Closed", "TimeWait")
        truncated = sim.is_over and not terminated
        return observation, float(self._reward(info)), terminated, truncated, info

    @property
    def simulation(self) -> Simulation:
        """The simulation of the episode: for reading more of it, and for changes of links.

        Raises:
            InputError: before the first :meth:`reset`.
        """
        if self._sim is None:
            raise InputError("call `reset` first")
        return self._sim

    def finish(self) -> Result:
        """Ends the episode where it stands, and returns its result; the next is begun by :meth:`reset`."""
        result = self.simulation.finish(to_end=False, progress=False)
        self._sim = None
        return result

    def _steer(self, value: float) -> None:
        smss = self._before.smss_bytes
        if self._action == "cwnd":
            self.simulation.steer(self._flow, cwnd_bytes=max(value * smss, 1.0))
            return
        window = 2 * value / 8 * (self._before.srtt_s or 0.0)
        self.simulation.steer(
            self._flow, cwnd_bytes=min(max(window, 10.0 * smss), 2.0**40), pacing_rate_bit_s=value
        )

    def _observed(self, now: FlowState, lasted_s: float) -> NDArray[np.float64]:
        before, smss = self._before, max(now.smss_bytes, 1)

        def rate(count: float) -> float:
            return 8 * count / lasted_s if lasted_s > 0 else 0.0

        sent = now.sent_segments - before.sent_segments
        fields = (
            now.cwnd_bytes / smss,
            now.pipe_bytes / smss,
            now.srtt_s or 0.0,
            now.min_rtt_s or 0.0,
            rate(now.delivered_bytes - before.delivered_bytes),
            rate(now.acked_bytes - before.acked_bytes),
            rate(sent * smss),
            now.retransmitted_segments - before.retransmitted_segments,
            now.timeouts - before.timeouts,
            now.pacing_rate_bit_s or 0.0,
        )
        return np.clip(np.array(fields, dtype=np.float64), 0.0, _MOST)
