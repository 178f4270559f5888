# SPDX-License-Identifier: Apache-2.0
"""Relay text: what the real TVM makes of Kiln's, and what it prints."""
import os
import sys

import numpy
import tvm
from tvm import relay
from tvm.contrib import graph_executor

import networks


def parse(files, registration):
    """The errors of texts that TVM cannot parse or whose types it cannot infer, by file."""
    register(registration)
    errors = {}
    for file in files:
        try:
            read(file)
        except Exception as error:
            errors[os.path.basename(file)] = str(error)[-2000:]
    return errors


def reprint(file, registration):
    """A text as TVM prints it."""
    register(registration)
    return read(file).astext()


def register(registration):
    folder = os.path.dirname(registration)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import kiln_relay

    assert kiln_relay.NAMES


def read(file):
    with open(file, encoding="utf-8") as text:
        return relay.transform.InferType()(tvm.relay.parse(text.read()))


def print_network(name, seed):
    """A network's text, an input of it, and what TVM answers."""
    module = networks.network(name, seed)
    inputs = networks.drawn_inputs(module, seed)
    return {
        "text": module.astext(),
        "inputs": [value.tobytes().hex() for value in inputs],
        "outputs": [value.tobytes().hex() for value in networks.answers(name, seed, inputs)],
    }


def run(file, registration, cases):
    """What a text answers to the inputs of each case; TVM parses it and compiles it for this computer."""
    register(registration)
    layouts = {"qnn.conv2d": ["NHWC", "HWIO"], "nn.conv2d": ["NHWC", "HWIO"]}
    module = relay.transform.ConvertLayout(layouts)(read(file))
    module = relay.transform.InferType()(module)
    with tvm.transform.PassContext(opt_level=1):
        built = relay.build(module, target="llvm")
    executor = graph_executor.GraphModule(built["default"](tvm.cpu()))
    return [answers(executor, module["main"].params, inputs) for inputs in cases]


def answers(executor, parameters, inputs):
    for parameter, data in zip(parameters, inputs):
        shape = [int(extent) for extent in parameter.checked_type.shape]
        executor.set_input(parameter.name_hint, numpy.frombuffer(bytes.fromhex(data), parameter.checked_type.dtype).reshape(shape))
    executor.run()
    return [executor.get_output(i).numpy().tobytes().hex() for i in range(executor.get_num_outputs())]


QUESTIONS = {"run": run, "parse": parse, "reprint": reprint, "print": print_network}
