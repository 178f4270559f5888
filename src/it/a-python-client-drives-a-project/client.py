# SPDX-License-Identifier: Apache-2.0
"""Drives a Project API server as microTVM's client does: generates, builds and flashes a project, and runs the model over RPC.

Arguments: template, archive, name of the model, folder with input_<k>.bin, folder with output_<k>.bin, folder for projects, boards.
"""
import base64
import binascii
import json
import os
import struct
import subprocess
import sys


class ProjectServer:
    """A server of a folder, as a process with two pipes."""

    def __init__(self, folder):
        self.folder = folder
        self.last_id = 0
        to_server, self.requests = os.pipe()
        replies, from_server = os.pipe()
        launcher = os.path.join(folder, "launch_microtvm_api_server.sh")
        self.process = subprocess.Popen(
            [launcher, os.path.join(folder, "microtvm_api_server.py"), "--read-fd", str(to_server), "--write-fd", str(from_server)],
            cwd=folder,
            pass_fds=[to_server, from_server],
        )
        os.close(to_server)
        os.close(from_server)
        self.replies = os.fdopen(replies, "r", encoding="utf-8")

    def reply(self, method, **params):
        self.last_id += 1
        request = {"jsonrpc": "2.0", "method": method, "params": params, "id": self.last_id}
        os.write(self.requests, (json.dumps(request) + "\n").encode())
        reply = json.loads(self.replies.readline())
        assert reply["jsonrpc"] == "2.0" and reply["id"] == self.last_id, reply
        return reply

    def call(self, method, **params):
        reply = self.reply(method, **params)
        assert "result" in reply, reply["error"]["message"] + ": " + str(reply["error"]["data"])
        return reply["result"]

    def options(self, **given):
        """All options: those given, and the defaults of the others."""
        known = self.call("server_info_query", tvm_version="0.16.0")["project_options"]
        assert set(given) <= {option["name"] for option in known}
        return {option["name"]: given.get(option["name"], option["default"]) for option in known}

    def end(self):
        os.close(self.requests)
        assert self.process.wait(20) == 0
        self.replies.close()


class Session:
    """An RPC session over a server's transport."""

    def __init__(self, server, timeouts):
        self.server = server
        self.received = b""
        self.timeout = timeouts["session_start_retry_timeout_sec"] or None
        retries = int(timeouts["session_start_timeout_sec"] / (self.timeout or 1))
        self.id, kind = 0, None
        for nonce in range(0x51, 0x53 + retries):
            try:
                self.write(b"\xfe" + frame(message(0, 2)) + frame(message(nonce, 0, b"\x01")))
                while kind != 1 or self.id & 0xFF != nonce:
                    self.id, kind, _ = self.read_message()
                    if kind == 2:
                        raise TimeoutError
                break
            except TimeoutError:
                pass  # The board was not ready yet, or has just started.
        assert kind == 1, "session start handshake failed"
        self.timeout = timeouts["session_established_timeout_sec"] or None

    def write(self, data):
        self.server.call("write_transport", data=base64.b85encode(data).decode(), timeout_sec=10)

    def byte(self):
        if not self.received:
            reply = self.server.reply("read_transport", n=4096, timeout_sec=self.timeout)
            if "error" in reply and reply["error"]["message"] == "IoTimeoutError":
                raise TimeoutError
            self.received = base64.b85decode(reply["result"]["data"])
        value, self.received = self.received[0], self.received[1:]
        return value

    def payload_byte(self, crc):
        value = self.byte()
        crc.append(value)
        if value == 0xFF:
            value = self.byte()
            crc.append(value)
            assert value == 0xFF, "an escape in a frame"
        return value

    def read_message(self):
        before = 0
        while True:
            value = self.byte()
            if (before, value) == (0xFF, 0xFD):
                break
            before = value
        crc = [0xFF, 0xFD]
        (length,) = struct.unpack("<I", bytes(self.payload_byte(crc) for _ in range(4)))
        payload = bytes(self.payload_byte(crc) for _ in range(length))
        (told,) = struct.unpack("<H", bytes(self.payload_byte([]) for _ in range(2)))
        assert told == binascii.crc_hqx(bytes(crc), 0xFFFF), "a damaged frame"
        session, kind = struct.unpack("<HB", payload[:3])
        return session, kind, payload[3:]

    def request(self, code, body):
        packet = struct.pack("<Qi", len(body) + 4, code) + body
        self.write(frame(message(self.id, 0x10, packet)))
        kind = 3
        while kind == 3:
            _, kind, reply = self.read_message()
        assert kind == 0x10, kind
        code, body = struct.unpack("<i", reply[8:12])[0], reply[12:]
        assert code != 5, body[16:].decode()
        return code, body

    def function(self, name):
        _, body = self.request(9, sequence((11, text(name))))
        return struct.unpack("<Q", body[8:16])[0]

    def invoke(self, function, *arguments):
        """The value that a function returns, without its type codes."""
        _, body = self.request(3, struct.pack("<Q", function) + sequence(*arguments))
        count = struct.unpack("<i", body[:4])[0]
        return body[4 + 4 * count + 8:]

    def method(self, module, name):
        found = self.invoke(self.function("tvm.rpc.server.ModuleGetFunction"), (9, module), (11, text(name)), (0, struct.pack("<q", 0)))
        return struct.unpack("<Q", found[:8])[0]


def message(session, kind, body=b""):
    return struct.pack("<HB", session, kind) + body


def frame(payload):
    escaped = b"\xff\xfd" + (struct.pack("<I", len(payload)) + payload).replace(b"\xff", b"\xff\xff")
    return escaped + struct.pack("<H", binascii.crc_hqx(escaped, 0xFFFF)).replace(b"\xff", b"\xff\xff")


def sequence(*values):
    codes = b"".join(struct.pack("<i", code) for code, _ in values)
    return struct.pack("<i", len(values)) + codes + b"".join(value for _, value in values)


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def tensor(returned):
    """A tensor as it came, and the number of its bytes."""
    dimensions = struct.unpack("<i", returned[16:20])[0]
    size = 24 + 8 * dimensions + 8
    fields = returned[:size]
    count = returned[21] // 8
    for extent in struct.unpack("<%dq" % dimensions, returned[24:24 + 8 * dimensions]):
        count *= extent
    return fields, count


def answers(session, name, inputs):
    """What the model answers to each input."""
    session.request(2, text("0.8.0") + sequence())
    library = session.invoke(session.function("runtime.SystemLib"))[:8]
    create = session.function("tvm.aot_executor.create")
    executor = session.invoke(create, (9, library), (6, struct.pack("<ii", 1, 0)), (11, text(name)))[:8]
    zero = (0, struct.pack("<q", 0))
    given, given_bytes = tensor(session.invoke(session.method(executor, "get_input"), zero))
    taken, taken_bytes = tensor(session.invoke(session.method(executor, "get_output"), zero))
    run = session.method(executor, "run")
    for data in inputs:
        assert len(data) == given_bytes
        session.request(7, given + struct.pack("<Q", len(data)) + data)
        session.invoke(run)
        code, answer = session.request(6, taken + struct.pack("<Q", taken_bytes))
        assert code == 8
        yield answer


def drive(template, archive, name, vectors, expected, folder, board):
    options = {"board": board, "project_type": "host_driven"}
    project = os.path.join(folder, board)
    server = ProjectServer(template)
    info = server.call("server_info_query", tvm_version="0.16.0")
    assert info["platform_name"] == "kiln" and info["is_template"] and info["protocol_version"] == 1
    server.call(
        "generate_project",
        model_library_format_path=archive,
        standalone_crt_dir=folder,
        project_dir=project,
        options=server.options(**options),
    )
    server.end()

    server = ProjectServer(project)
    info = server.call("server_info_query", tvm_version="0.16.0")
    assert not info["is_template"] and os.path.samefile(info["model_library_format_path"], os.path.join(project, "model.tar"))
    closed = server.reply("read_transport", n=1, timeout_sec=0)["error"]
    assert (closed["code"], closed["message"]) == (-32000, "TransportClosedError"), closed
    all_options = server.options(**options)
    for method in ("build", "flash"):
        assert server.call(method, options=all_options) is None
    timeouts = server.call("open_transport", options=all_options)["timeouts"]
    cases = [open(os.path.join(vectors, each), "rb").read() for each in sorted(os.listdir(vectors)) if each.startswith("input_")]
    session = Session(server, timeouts)
    for k, answer in enumerate(answers(session, name, cases)):
        assert answer == open(os.path.join(expected, "output_%d.bin" % k), "rb").read(), k
    assert cases
    silent = server.reply("read_transport", n=1, timeout_sec=0)["error"]
    assert silent["message"] == "IoTimeoutError", silent
    server.call("close_transport")
    server.call("close_transport")
    server.end()
    assert not processes_of(project)
    print("%s: %d cases are bit-exact" % (board, len(cases)))


def processes_of(folder):
    """Processes that name a folder in their command line, or stand in it."""
    found = []
    for each in os.listdir("/proc"):
        try:
            command = open("/proc/%s/cmdline" % each, "rb").read().decode(errors="replace")
            place = os.readlink("/proc/%s/cwd" % each)
        except (OSError, ValueError):
            continue
        if each not in ("self", "thread-self", str(os.getpid())) and (folder in command or place.startswith(folder)):
            found.append(command)
    return found


if __name__ == "__main__":
    for each_board in sys.argv[7].split(","):
        drive(*sys.argv[1:7], each_board)
