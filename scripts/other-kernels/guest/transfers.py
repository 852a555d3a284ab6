"""Transfers whose bytes are known, and exchanges that a delayed ACK stalls.

  transfers.py serve PORT                         answers with as many pseudo-random bytes as are requested
  transfers.py fetch HOST PORT OCTETS SECONDS     prints the seconds; exits with 1 if a byte is wrong
  transfers.py stalls PORT [COUNT]                answers each 100 bytes with two writes of 50
  transfers.py once HOST PORT COUNT               one write and its answer, so many times; prints the median in ms
"""
import hashlib, random, socket, sys, threading, time


def contents(octets):
    """Pseudo-random bytes, the same for each call with the same number."""
    return random.Random(octets).randbytes(octets)


def listen(port, serve):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("0.0.0.0", port))
    listener.listen(64)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


def send(connection):
    with connection:
        octets, seconds = connection.makefile("rb").readline().split()
        data, seconds = contents(int(octets)), float(seconds)
        parts = 100 if seconds else 1
        for at in range(parts):
            connection.sendall(data[len(data) * at // parts:len(data) * (at + 1) // parts])
            time.sleep(seconds / parts)


def fetch(host, port, octets, seconds):
    began = time.monotonic()
    with socket.create_connection((host, port), 30) as connection:
        connection.settimeout(60)
        connection.sendall(b"%d %s\n" % (octets, str(seconds).encode()))
        received = bytearray()
        while part := connection.recv(65536):
            received += part
    took = time.monotonic() - began
    if hashlib.sha256(received).digest() != hashlib.sha256(contents(octets)).digest():
        sys.exit(f"wrong bytes: {len(received)} of {octets} received")
    print(f"{took:.3f}")


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


def once(host, port, count):
    with socket.create_connection((host, port), 30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        took = []
        for _ in range(count):
            began = time.monotonic()
            connection.sendall(b"a" * 100)
            if not read(connection, 100):
                sys.exit("the server closed the connection")
            took.append(time.monotonic() - began)
    print(f"{sorted(took)[count // 2] * 1e3:.3f}")


if __name__ == "__main__":
    command, *words = sys.argv[1:]
    if command == "serve":
        listen(int(words[0]), send)
    elif command == "fetch":
        fetch(words[0], int(words[1]), int(words[2]), float(words[3]))
    elif command == "stalls":
        listen(int(words[0]), stall)
    elif command == "once":
        once(words[0], int(words[1]), int(words[2]))
