"""Children as Ray actors, on this machine or on a cluster.

Ray restarts a child that dies, wherever there is room, and its constructor reloads the last checkpoint; then Ray calls
again what the child had not answered. So only the child that lost a batch repeats it. Its earlier updates were lost
with its tables, so nothing counts twice; its new boards are drawn independently of what was lost, so nothing is biased;
and the other children, which have answered, need no rollback.
"""

import ctypes
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any

from foldwise.game.errors import DefinitionError, ProtocolError
from foldwise.solver.distributed.child import ChildSpec, make_child
from foldwise.solver.distributed.ray_watchdog import Watchdog, processes_below

_LOG = logging.getLogger(__name__)
_PR_SET_PDEATHSIG = 1  # Linux, linux/prctl.h
_QUIET = {"log_to_driver": False, "logging_level": "ERROR"}
_LOCAL = "local"  # a cluster of our own on this machine
_CLOSING_SECONDS = 10.0
_STORE_BYTES = 1 << 29  # of our own cluster: a few batches, not the tables
_AUTO = "auto"  # the cluster on this machine, or one of our own
_CLIENT = "ray://"  # prefix of an address of Ray's client proxy
_KNOCK_SECONDS = 15.0
# Ray uses gRPC: this is the HTTP/2 connection preface with empty settings (RFC 9113, 3.4), which a server answers at once.
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
# Ray's agents look for up to a minute for a server that died with us, then exit by themselves.
_GIVE_UP = ("RAY_gcs_rpc_server_reconnect_timeout_s", "5")
# Ray lowers the priority of its workers to niceness 15: on a busy machine children would wait for everybody else.
_AS_THE_HEAD = ("RAY_worker_niceness", "0")


def check_address(address: str) -> None:
    """Refuse an address that does not answer at once: Ray itself would keep trying for minutes."""
    _import_ray()
    if address in (_LOCAL, _AUTO):
        return
    host, _, port = address.removeprefix(_CLIENT).rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 2**16:
        raise DefinitionError(f"--ray {address!r}: expected auto, local or HOST:PORT, as in 10.0.0.1:6379")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS) as sock:
            sock.sendall(_HELLO)
            if not sock.recv(1):
                raise _no_cluster(address, "it hangs up")
    except TimeoutError:
        raise _no_cluster(address, f"no answer within {_KNOCK_SECONDS:g} s") from None
    except OSError as error:
        raise _no_cluster(address, error.strerror or str(error)) from None


def _keep_to_this_machine() -> None:
    """Make our own cluster's daemons listen on loopback only: anyone who can reach Ray's ports can run programs.

    Where Ray does not support clusters, as on Windows, it uses 127.0.0.1 as its address and binds to it; the variable
    selects that in processes that have not loaded Ray yet.
    """
    from ray._private import ray_constants

    os.environ[ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR] = "0"
    ray_constants.ENABLE_RAY_CLUSTER = False


def keep_off_standard_output() -> None:
    """Log what Ray's daemons report, such as a lost host: Ray prints it, told to be quiet or not, amid a command's JSON."""
    from ray._private import worker

    def log(data: dict[str, Any], ignore_prefix: bool) -> None:
        for line in data["lines"]:
            _LOG.warning("Ray: %s", line)

    worker.print_to_stdstream = log


def _no_cluster(address: str, reason: str) -> DefinitionError:
    return DefinitionError(
        f"no Ray cluster at {address!r} ({reason}): start one with 'ray start --head', or give --ray local"
    )


def _end_with_parent() -> None:
    """Have the kernel end this process when the daemon that started it dies, as Ray does for the daemon and the head.

    Ray's processes notice by themselves, which may take long on a busy machine.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == 1:  # it died before we asked
        os.kill(os.getpid(), signal.SIGKILL)


class _RemoteChild:
    """The actor: makes its child where it starts, and forwards calls."""

    def __init__(self, spec: ChildSpec):
        _end_with_parent()
        self._child = make_child(spec)

    def call(self, method: str, *arguments: Any) -> Any:
        return getattr(self._child, method)(*arguments)


class RayEngine:
    """One actor per child, with a core for each of its threads."""

    def __init__(self, specs: Sequence[ChildSpec], address: str):
        self._ray = _import_ray()
        self._watchdog: Watchdog | None = None
        threads = int(specs[0].config["solver"]["threads"])
        self._connect(address, threads * len(specs))
        actor = self._ray.remote(_RemoteChild).options(
            num_cpus=threads, max_restarts=-1, max_task_retries=-1, scheduling_strategy="SPREAD"
        )
        self._actors = [actor.remote(spec) for spec in specs]
        self._last: list[Any] = []  # the last calls; a child answers in order

    def _connect(self, address: str, cores: int) -> None:
        ray = self._ray
        check_address(address)
        keep_off_standard_output()
        try:
            if address == _LOCAL:
                self._start_own(cores)
            elif address == _AUTO:
                try:
                    ray.init(address=_AUTO, **_QUIET)
                except ConnectionError:
                    self._start_own(cores)
            else:
                ray.init(address=address, **_QUIET)
        except ProtocolError:
            raise
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _no_cluster(address, str(error).splitlines()[0]) from None
        there = int(ray.cluster_resources().get("CPU", 0))
        if there < cores:
            self._shut_down()
            raise DefinitionError(
                f"the Ray cluster has {there} cores, the children need {cores}: use fewer children or threads, "
                "or add machines with 'ray start --address=HEAD:6379'"
            )

    def _start_own(self, cores: int) -> None:
        """A cluster on this machine that ends with this process. On a busy machine Ray may need a second attempt."""
        os.environ.setdefault(*_GIVE_UP)
        os.environ.setdefault(*_AS_THE_HEAD)
        _keep_to_this_machine()
        before = processes_below()
        for last in (False, False, True):
            try:
                self._ray.init(
                    address=_LOCAL,
                    num_cpus=max(cores, os.cpu_count() or 1),
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    **_QUIET,
                )
                self._watchdog = Watchdog(before)
                return
            except Exception as error:  # Ray has no class for daemons that start too slowly
                self._ray.shutdown()
                if last:
                    raise ProtocolError(f"Ray did not start: {str(error).splitlines()[0]}") from error

    def call_all(self, method: str, *arguments: Any) -> Callable[[], list[Any]]:
        shared = [self._ray.put(argument) for argument in arguments]  # written once, read by every child
        self._last = pending = [actor.call.remote(method, *shared) for actor in self._actors]
        return lambda: self._answers(pending)

    def _answers(self, pending: list[Any]) -> list[Any]:
        try:
            answers: list[Any] = self._ray.get(pending)
        except self._ray.exceptions.RayTaskError as error:  # raised by the child itself
            raise error.as_instanceof_cause() from None
        except self._ray.exceptions.RayError as error:
            raise ProtocolError(f"a child could not be started or called: {str(error).splitlines()[-1]}") from error
        return answers

    def close(self) -> None:
        """End the children after their calls: a child killed during a call would be reported as a failure."""
        if self._last:
            self._ray.wait(self._last, num_returns=len(self._last), timeout=_CLOSING_SECONDS)
        for actor in self._actors:
            self._ray.kill(actor)
        self._shut_down()

    def _shut_down(self) -> None:
        self._ray.shutdown()
        if self._watchdog is not None:
            self._watchdog.close()


def _import_ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or a warning about GPUs we do not use
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise DefinitionError(
            "Ray is not installed: pip install 'foldwise[distributed]', or leave --ray out for children in one process"
        ) from None
    return ray
