"""Transfers whose bytes are known, and exchanges that a delayed ACK stalls.

  transfers.py serve PORT                         answers with as many pseudo-random bytes as are requested
  transfers.py fetch HOST PORT OCTETS             prints the seconds; exits with 1 if a byte is wrong
  transfers.py stream HOST PORT FILE              the same for blocks that are sent until the file exists
  transfers.py stalls PORT                        answers each 100 bytes with two writes of 50
  transfers.py once HOST PORT COUNT [PAUSE]       one write and its answer, so many times; prints the median in ms
"""
import hashlib, os, random, socket, sys, threading, time


BLOCK = 20_000


def contents(seed, octets):
    """Pseudo-random bytes, the same for each call with the same numbers."""
    return random.Random(seed).randbytes(octets)


def listen(port, serve):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", port))
    listener.listen(64)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


def send(connection):
    with connection:
        kind, word = connection.makefile("r").readline().split()
        if kind == "fetch":
            return connection.sendall(contents(0, int(word)))
        block = 0
        while not os.path.exists(word):
            connection.sendall(contents(block, BLOCK))
            block += 1
            time.sleep(0.05)


def receive(host, port, request):
    began = time.monotonic()
    with socket.create_connection((host, port), 30) as connection:
        connection.settimeout(60)
        connection.sendall(f"{request}\n".encode())
        received = bytearray()
        while part := connection.recv(65536):
            received += part
    return bytes(received), time.monotonic() - began


def digest(octets):
    return hashlib.sha256(octets).hexdigest()


def fetch(host, port, octets):
    received, took = receive(host, port, f"fetch {octets}")
    if digest(received) != digest(contents(0, octets)):
        sys.exit(f"wrong bytes: {len(received)} of {octets} received")
    print(f"{took:.3f} {len(received)}")


def stream(host, port, path):
    received, took = receive(host, port, f"stream {path}")
    expected = b"".join(contents(block, BLOCK) for block in range(len(received) // BLOCK))
    if not received or digest(received) != digest(expected):
        sys.exit(f"wrong bytes among {len(received)} received")
    print(f"{took:.3f} {len(received)}")


def read(connection, octets):
    while octets:
        part = connection.recv(octets)
        if not part:
            return False
        octets -= len(part)
    return True


def stall(connection):
    with connection:
        while read(connection, 100):
            connection.sendall(b"x" * 50)
            connection.sendall(b"y" * 50)


def once(host, port, count, pause=0.0):
    with socket.create_connection((host, port), 30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        took = []
        for _ in range(count):
            began = time.monotonic()
            connection.sendall(b"a" * 100)
            if not read(connection, 100):
                sys.exit("the server closed the connection")
            took.append(time.monotonic() - began)
            time.sleep(pause)
    print(f"{sorted(took)[count // 2] * 1e3:.3f}")


if __name__ == "__main__":
    command, *words = sys.argv[1:]
    if command == "serve":
        listen(int(words[0]), send)
    elif command == "fetch":
        fetch(words[0], int(words[1]), int(words[2]))
    elif command == "stream":
        stream(words[0], int(words[1]), words[2])
    elif command == "stalls":
        listen(int(words[0]), stall)
    elif command == "once":
        once(words[0], int(words[1]), int(words[2]), *map(float, words[3:]))
