# SPDX-License-Identifier: Apache-2.0
"""Relay text: what the real TVM makes of Kiln's, and what it prints."""
import os
import sys

import tvm
from tvm import relay

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


QUESTIONS = {"parse": parse, "reprint": reprint, "print": print_network}
