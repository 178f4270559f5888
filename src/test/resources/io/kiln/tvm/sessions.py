# SPDX-License-Identifier: Apache-2.0
"""Sessions of the real tvm.micro.Session with a program that Kiln built."""
import os
import select
import subprocess

import numpy
import tvm
import tvm.micro
from tvm.micro import transport


class ProgramTransport(transport.Transport):
    """The standard input and output of an image on this computer, or of the emulator that runs it."""

    def __init__(self, line):
        self.line = line
        self.process = None

    def timeouts(self):
        return transport.TransportTimeouts(
            session_start_retry_timeout_sec=10.0, session_start_timeout_sec=60.0, session_established_timeout_sec=60.0
        )

    def open(self):
        self.process = subprocess.Popen(
            self.line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, env=own_environment()
        )

    def close(self):
        self.process.kill()
        self.process.wait()

    def read(self, n, timeout_sec):
        ready, _, _ = select.select([self.process.stdout], [], [], timeout_sec)
        if not ready:
            raise transport.IoTimeoutError()
        data = os.read(self.process.stdout.fileno(), n)
        if not data:
            raise transport.TransportClosedError()
        return data

    def write(self, data, timeout_sec):
        self.process.stdin.write(data)


def own_environment():
    """The environment without the libraries of this Python, which are not those of the emulator."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH")}


def tensors(module, files):
    for index, file in enumerate(files):
        into = module.get_input(index)
        into.copyfrom(numpy.fromfile(file, dtype=into.dtype).reshape(into.shape))


def answers(module):
    return [module.get_output(i).numpy().tobytes().hex() for i in range(module.get_num_outputs())]


def of_aot(session, inputs, number):
    module = tvm.micro.create_local_aot_executor(session)
    tensors(module, inputs)
    module.run()
    answer = answers(module)
    timed = module.module.time_evaluator("run", session.device, number=number, repeat=2)()
    return {"outputs": answer, "seconds": list(timed.results), "inputs": module.get_num_inputs()}


def with_graph(create, session, graph, params, inputs, names):
    module = create(graph, session.get_system_lib(), session.device)
    if params:
        module.load_params(params)
    for name, file in zip(names, inputs):
        into = module.get_input(name)
        module.set_input(name, numpy.fromfile(file, dtype=into.dtype).reshape(into.shape))
    return module


def of_graph(session, graph, params, inputs, names):
    module = with_graph(tvm.micro.create_local_graph_executor, session, graph, params, inputs, names)
    module.run()
    return {"outputs": answers(module)}


def of_debug(session, graph, params, inputs, names, number):
    module = with_graph(tvm.micro.create_local_debug_executor, session, graph, params, inputs, names)
    module.run(number=number, repeat=1, min_repeat_ms=0)
    operators = [node for node in module.debug_datum.get_graph_nodes() if node["op"] != "param"]
    timed = [seconds for seconds in module.debug_datum._time_list if float(seconds[0]) > 0]
    return {"outputs": answers(module), "operators": len(operators), "timed": len(timed)}


def session(line, kind, inputs, graph="", params="", names=(), number=2):
    """One session of one kind, from the start of the program to its end."""
    with tvm.micro.Session(ProgramTransport(line)) as opened:
        if kind == "aot":
            answer = of_aot(opened, inputs, number)
        else:
            with open(graph, encoding="utf-8") as file:
                text = file.read()
            blob = b""
            if params:
                with open(params, "rb") as file:
                    blob = file.read()
            if kind == "graph":
                answer = of_graph(opened, text, blob, inputs, names)
            else:
                answer = of_debug(opened, text, blob, inputs, names, number)
    return answer


QUESTIONS = {"session": session}
