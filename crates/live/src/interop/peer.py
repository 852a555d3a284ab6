"""The stock kernel's end of an interoperation run: plain sockets, driven by a program of steps.

Takes one JSON object as its only argument (see `crates/live/src/interop/peer.rs`, which makes it),
leaves `ready` in the folder it names once it listens, and `result.json` when it is done.

The steps are those of `crates/live/src/interop/program.rs`; what is sent is the stream of
`crates/live/src/interop/stream.rs`, made here anew, so that two independent programs agree on it.
"""

import fcntl
import hashlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import termios
import threading
import time

MASK = (1 << 64) - 1
BLOCK = 65_536
KERNEL_END = 2


class Source:
    """The bytes one end sends on one connection."""

    def __init__(self, seed, end, connection):
        state = seed * 0x9E3779B97F4A7C15 + end * 0xBF58476D1CE4E5B9
        self.state = (state + connection * 0x94D049BB133111EB) & MASK | 1
        self.base = b""
        self.at = 0

    def grow(self, length):
        words = []
        x = self.state
        for _ in range((length - len(self.base) + 7) // 8):
            x ^= x >> 12
            x ^= x << 25 & MASK
            x ^= x >> 27
            words.append(struct.pack(">Q", x * 0x2545F4914F6CDD1D & MASK))
        self.state = x
        self.base += b"".join(words)

    def take(self, limit):
        """The next bytes, at most so many and at most to the end of a block."""
        index, inside = divmod(self.at, BLOCK)
        length = min(limit, BLOCK - inside)
        needed = inside + length if index == 0 else BLOCK
        if len(self.base) < needed:
            self.grow(needed)
        turn = index * 4099 % BLOCK
        block = struct.pack(">Q", index) + (self.base[turn:] + self.base[:turn])[8:]
        self.at += length
        return block[inside : inside + length]


class Connection:
    """One connection and the program on it."""

    def __init__(self, sock, plan, index):
        self.sock = sock
        self.plan = plan
        self.source = Source(plan["seed"], KERNEL_END, index)
        self.sent = self.received = 0
        self.sent_hash, self.received_hash = hashlib.sha256(), hashlib.sha256()
        self.was_reset = False
        self.info = ""

    def send_bytes(self, data):
        self.sock.sendall(data)
        self.sent += len(data)
        self.sent_hash.update(data)

    def send(self, count):
        end = self.sent + count
        while self.sent < end:
            self.send_bytes(self.source.take(end - self.sent))

    def read(self, limit=BLOCK * 4):
        data = self.sock.recv(limit)
        self.received += len(data)
        self.received_hash.update(data)
        return data

    def receive(self, count):
        end = self.received + count
        while self.received < end:
            if not self.read(min(end - self.received, BLOCK * 4)):
                raise EOFError(f"the peer finished after {self.received} bytes")

    def receive_to_end(self):
        while self.read():
            pass

    def exchange(self, out, back):
        failures = []

        def sends():
            try:
                self.send(out)
            except OSError as error:
                failures.append(error)

        sender = threading.Thread(target=sends)
        sender.start()
        self.receive(back)
        sender.join()
        if failures:
            raise failures[0]

    def echo(self, count):
        left = count
        while left is None or left > 0:
            data = self.read(BLOCK * 4 if left is None else min(left, BLOCK * 4))
            if not data:
                if left is None:
                    return
                raise EOFError(f"the peer finished with {left} bytes to come")
            self.send_bytes(data)
            left = None if left is None else left - len(data)

    def drained(self):
        waiting = bytearray(4)
        while True:
            fcntl.ioctl(self.sock.fileno(), termios.TIOCOUTQ, waiting)
            if struct.unpack("i", waiting)[0] == 0:
                return
            time.sleep(0.002)

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def await_reset(self):
        try:
            self.receive_to_end()
        except ConnectionResetError:
            self.was_reset = True
            return
        raise EOFError("the peer finished instead of resetting")

    def step(self, words):
        what, *arguments = words
        if what == "send":
            self.send(int(arguments[0]))
        elif what == "receive":
            if arguments[0] == "end":
                self.receive_to_end()
            else:
                self.receive(int(arguments[0]))
        elif what == "exchange":
            self.exchange(int(arguments[0]), int(arguments[1]))
        elif what == "echo":
            self.echo(None if arguments[0] == "end" else int(arguments[0]))
        elif what == "shut":
            self.look()
            self.sock.shutdown(socket.SHUT_WR)
        elif what == "pause":
            time.sleep(int(arguments[0]) / 1000)
        elif what == "drained":
            self.drained()
        elif what == "reset":
            self.reset()
        elif what == "await-reset":
            self.await_reset()
        elif what == "close":
            self.look()
            self.sock.close()
        else:
            raise ValueError(f"no such step: {what}")

    def look(self):
        """What ss says of the connection, before its end begins."""
        if self.info or not self.plan["ss"] or not shutil.which("ss"):
            return
        said = subprocess.run(["ss", "-Htin"], capture_output=True, text=True, check=False)
        self.info = said.stdout.strip()

    def run(self):
        try:
            for words in self.plan["program"]:
                self.step(words)
        finally:
            self.sock.close()


class Run:
    """All connections of a run."""

    def __init__(self, plan):
        self.plan = plan
        self.lock = threading.Lock()
        self.sent = self.received = self.done = self.resets = 0
        self.sent_digest = self.received_digest = 0
        self.errors = []
        self.info = ""
        self.congestion = ""

    def set_up(self, sock):
        """Asks for the congestion control a stock kernel has, where this one lets us."""
        sock.settimeout(self.plan["patience_s"])
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        except OSError:
            pass  # The report says which one it was.
        name = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
        self.congestion = name.split(b"\0")[0].decode()

    def one(self, sock, index):
        connection = Connection(sock, self.plan, index)
        error = None
        try:
            self.set_up(sock)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.run()
        except Exception as failure:  # Whatever it is, the report says so.
            error = f"connection {index}: {type(failure).__name__}: {failure}"
        with self.lock:
            self.done += error is None
            self.resets += connection.was_reset
            self.sent += connection.sent
            self.received += connection.received
            self.sent_digest ^= int(connection.sent_hash.hexdigest(), 16)
            self.received_digest ^= int(connection.received_hash.hexdigest(), 16)
            self.info = connection.info or self.info
            if error:
                self.errors.append(error)

    def connect(self):
        plan = self.plan
        family = socket.AF_INET6 if ":" in plan["address"] else socket.AF_INET
        indexes = iter(range(plan["connections"]))

        def worker():
            while True:
                with self.lock:
                    index = next(indexes, None)
                if index is None:
                    return
                sock = socket.socket(family, socket.SOCK_STREAM)
                try:
                    self.set_up(sock)
                    sock.connect((plan["address"], plan["port"]))
                except OSError as error:
                    sock.close()
                    with self.lock:
                        self.errors.append(f"connection {index}: {error}")
                    continue
                self.one(sock, index)

        workers = [threading.Thread(target=worker) for _ in range(plan["at_once"])]
        for thread in workers:
            thread.start()
        for thread in workers:
            thread.join()

    def listen(self):
        plan = self.plan
        family = socket.AF_INET6 if ":" in plan["address"] else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((plan["address"], plan["port"]))
        listener.listen(4096)
        self.set_up(listener)
        leave(plan, "ready", "")
        threads = []
        for index in range(plan["connections"]):
            sock, _ = listener.accept()
            if plan["at_once"] == 1:
                self.one(sock, index)
                continue
            threads = [thread for thread in threads if thread.is_alive()]
            threads.append(threading.Thread(target=self.one, args=(sock, index)))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def result(self):
        return {
            "done": self.done,
            "resets": self.resets,
            "sent_bytes": self.sent,
            "received_bytes": self.received,
            "sent_sha256": f"{self.sent_digest:064x}",
            "received_sha256": f"{self.received_digest:064x}",
            "errors": self.errors[:5],
            "error_count": len(self.errors),
            "ss": self.info,
            "congestion": self.congestion,
        }


def leave(plan, name, content):
    """Writes a file of the run's folder that is complete as soon as it is there."""
    path = os.path.join(plan["folder"], name)
    with open(path + ".part", "w", encoding="utf-8") as file:
        file.write(content)
    os.rename(path + ".part", path)


def main():
    plan = json.loads(sys.argv[1])
    for name, value in plan["sysctls"]:
        with open("/proc/sys/" + name.replace(".", "/"), "w", encoding="utf-8") as file:
            file.write(value)
    run = Run(plan)
    try:
        run.connect() if plan["role"] == "connect" else run.listen()
    except Exception as failure:
        run.errors.append(f"{type(failure).__name__}: {failure}")
    leave(plan, "result.json", json.dumps(run.result()))


main()
