# SPDX-License-Identifier: Apache-2.0
"""A Project API server of a board that echoes. The file "fault" beside it names what it does wrong, and in which method."""
import argparse
import base64
import json
import os
import pathlib
import shutil
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
METHODS = {
    "server_info_query": ["tvm_version"],
    "generate_project": ["model_library_format_path", "standalone_crt_dir", "project_dir", "options"],
    "build": ["options"],
    "flash": ["options"],
    "open_transport": ["options"],
    "close_transport": [],
    "read_transport": ["n", "timeout_sec"],
    "write_transport": ["data", "timeout_sec"],
}
WORK = ["generate_project", "build", "flash", "open_transport"]


def option(name, kind, default=None, choices=None, required=None):
    return {"name": name, "choices": choices, "default": default, "type": kind, "required": required,
            "optional": None if required else WORK, "help": "Means " + name + "."}


OPTIONS = [
    option("board", "str", choices=["echo", "mute"], required=["generate_project"]),
    option("verbose", "bool", False),
    option("heap", "int", 2097152),
    option("west_cmd", "str"),
]


class Server:
    def __init__(self):
        self.pending = None

    def server_info_query(self, tvm_version):
        archive = HERE / "model.tar"
        return {"platform_name": "echo", "is_template": not archive.exists(),
                "model_library_format_path": str(archive) if archive.exists() else "",
                "project_options": OPTIONS, "protocol_version": 2 if fault() == ["version"] else 1}

    def generate_project(self, model_library_format_path, standalone_crt_dir, project_dir, options):
        folder = pathlib.Path(project_dir)
        folder.mkdir()
        shutil.copy(__file__, folder)
        shutil.copy(model_library_format_path, folder / "model.tar")
        (folder / "crt").symlink_to(standalone_crt_dir)
        (folder / "options.json").write_text(json.dumps(options))

    def build(self, options):
        print("building", file=sys.stderr, flush=True)
        (HERE / "built").write_text(json.dumps(options))

    def flash(self, options):
        if not (HERE / "built").exists():
            raise RuntimeError("nothing was built")
        (HERE / "flashed").write_text(json.dumps(options))

    def open_transport(self, options):
        self.pending = b""
        return {"timeouts": {"session_start_retry_timeout_sec": 2.5, "session_start_timeout_sec": 5,
                             "session_established_timeout_sec": 0}}

    def close_transport(self):
        self.pending = None

    def read_transport(self, n, timeout_sec):
        self.check_open()
        if not self.pending:
            time.sleep(min(timeout_sec, 0.01))
            raise IoTimeoutError()
        data, self.pending = self.pending[:n], self.pending[n:]
        return {"data": base64.b85encode(data).decode()}

    def write_transport(self, data, timeout_sec):
        self.check_open()
        self.pending += base64.b85decode(data)

    def check_open(self):
        if self.pending is None:
            raise TransportClosedError()


class IoTimeoutError(Exception):
    pass


class TransportClosedError(Exception):
    pass


def fault():
    file = HERE / "fault"
    return file.read_text().split() if file.exists() else []


def misbehave(kind, reply, out):
    """What goes out instead of a reply."""
    if kind == "die":
        print("segmentation fault", file=sys.stderr, flush=True)
        os._exit(3)
    if kind == "late":
        time.sleep(1000)
    out.write({
        "twice": reply + reply,
        "garbage": b"Compiling\x1b[0m ...\n" + reply,
        "cut": reply[:-9],
        "binary": b"\xff\xfe\n",
        "flood": b"x" * (17 << 20),
        "id": reply.replace(b'"id": ', b'"id": 9'),
        "more": reply.replace(b'"data": "', b'"data": "00000'),
    }[kind])
    out.flush()
    if kind == "cut":
        os._exit(0)


def answer(server, request):
    method, params = request["method"], request["params"]
    assert request["jsonrpc"] == "2.0" and sorted(params) == sorted(METHODS[method]), request
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = getattr(server, method)(**params)
    except (IoTimeoutError, TransportClosedError) as e:
        reply["error"] = {"code": -32000, "message": type(e).__name__, "data": {"traceback": "Traceback: io"}}
    except Exception as e:
        reply["error"] = {"code": -32000, "message": "calling method " + method, "data": {"traceback": "Traceback: " + str(e)}}
    return reply


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--read-fd", type=int, required=True)
    parser.add_argument("--write-fd", type=int, required=True)
    args = parser.parse_args()
    (HERE / "pid").write_text(str(os.getpid()))
    source, out = os.fdopen(args.read_fd, "rb"), os.fdopen(args.write_fd, "wb")
    server = Server()
    for number, line in enumerate(source, start=1):
        request = json.loads(line)
        assert request["id"] == number, request
        reply = (json.dumps(answer(server, request)) + "\n").encode()
        if fault()[1:] == [request["method"]]:
            misbehave(fault()[0], reply, out)
        else:
            out.write(reply)
            out.flush()


main()
