# SPDX-License-Identifier: Apache-2.0
"""Libraries that Kiln exported, loaded by the real TVM."""
import numpy
import tvm
from tvm.contrib import graph_executor
from tvm.runtime.executor import AotModule


def keys(module):
    return [module.type_key] + [key for imported in module.imported_modules for key in keys(imported)]


def library(file, name, executor, inputs):
    """What the executor of a library answers, and the kinds of its modules."""
    loaded = tvm.runtime.load_module(file)
    made = loaded[name](tvm.cpu())
    module = AotModule(made) if executor == "aot" else graph_executor.GraphModule(made)
    for index, path in enumerate(inputs):
        into = module.get_input(index)
        into.copyfrom(numpy.fromfile(path, dtype=into.dtype).reshape(into.shape))
    module.run()
    outputs = [module.get_output(i).numpy().tobytes().hex() for i in range(module.get_num_outputs())]
    return {"outputs": outputs, "keys": keys(loaded)}


QUESTIONS = {"library": library}
