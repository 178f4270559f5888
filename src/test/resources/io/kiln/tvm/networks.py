# SPDX-License-Identifier: Apache-2.0
"""Small networks of TVM's operators, with drawn weights. Scales have few digits: TVM prints six."""
import functools

import numpy
import tvm
from tvm import relay
from tvm.contrib import graph_executor


def drawn(random, *shape):
    return relay.const(random.integers(-127, 128, size=shape, dtype="int8"))


def convolutions(seed):
    """A convolution, a depthwise one and a dense layer, as quantized frontends make them."""
    random = numpy.random.default_rng(seed)
    zero = relay.const(0, "int32")
    data = relay.var("data", shape=(1, 8, 8, 3), dtype="int8")
    value = relay.qnn.op.conv2d(
        relay.nn.pad(data, ((0, 0), (1, 1), (1, 1), (0, 0)), pad_value=relay.const(-3, "int8")), drawn(random, 3, 3, 3, 4),
        relay.const(-3, "int32"), zero, relay.const(0.05, "float32"), relay.const(0.02, "float32"),
        kernel_size=(3, 3), channels=4, data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32")
    value = relay.nn.bias_add(value, relay.const(random.integers(-900, 900, size=4, dtype="int32")), axis=3)
    value = relay.qnn.op.requantize(
        value, relay.const(0.001, "float32"), zero, relay.const(0.0625, "float32"), relay.const(5, "int32"), axis=3, out_dtype="int8")
    value = relay.clip(value, 5, 127)
    value = relay.nn.max_pool2d(value, pool_size=(2, 2), strides=(2, 2), layout="NHWC")
    value = relay.reshape(value, (1, 64))
    value = relay.qnn.op.dense(
        value, drawn(random, 6, 64), relay.const(5, "int32"), zero, relay.const(0.0625, "float32"), relay.const(0.02, "float32"),
        units=6, out_dtype="int32")
    value = relay.qnn.op.requantize(
        value, relay.const(0.00125, "float32"), zero, relay.const(0.25, "float32"), relay.const(-7, "int32"), axis=1, out_dtype="int8")
    return tvm.IRModule.from_expr(relay.Function([data], value))


def pieces(seed):
    """Parts of a tensor, cut in every way that the printer has, and put together again."""
    random = numpy.random.default_rng(seed)
    data = relay.var("data", shape=(1, 4, 4, 8), dtype="int8")
    halves = relay.split(data, 2, axis=3)
    thirds = relay.split(data, [1, 4], axis=3)
    slice_ = relay.strided_slice(halves[0], [0, 1, 0, 0], [1, 4, 4, 4], [1, 2, 1, 1])
    other = relay.strided_slice(thirds[1], [1], [3], axes=[1])
    scale = lambda number: relay.const(number, "float32")
    zero = lambda number: relay.const(number, "int32")
    both = relay.qnn.op.concatenate(
        relay.Tuple([slice_, relay.strided_slice(halves[1], [0, 0, 0, 0], [1, 2, 4, 4])]),
        relay.Tuple([scale(0.12), scale(0.1)]), relay.Tuple([zero(0), zero(3)]), scale(0.12), zero(0), axis=3)
    shifted = relay.add(both, relay.const(random.integers(-5, 5), "int8"))
    wide = relay.add(relay.cast(other, "int16"), relay.const(3, "int16"))
    return tvm.IRModule.from_expr(relay.Function([data], relay.Tuple([shifted, wide, relay.squeeze(thirds[0], axis=[0])])))


def dense(seed):
    """One layer, whose loops AutoTVM can order."""
    data = relay.var("data", shape=(1, 48), dtype="int8")
    return tvm.IRModule.from_expr(
        relay.Function([data], relay.nn.dense(data, drawn(numpy.random.default_rng(seed), 12, 48), units=12, out_dtype="int32")))


NETWORKS = {"convolutions": convolutions, "pieces": pieces, "dense": dense}


def network(name, seed):
    return relay.transform.InferType()(NETWORKS[name](seed))


def drawn_inputs(module, seed):
    random = numpy.random.default_rng(seed)
    return [
        random.integers(-128, 128, size=[int(extent) for extent in parameter.checked_type.shape]).astype(parameter.checked_type.dtype)
        for parameter in module["main"].params
    ]


@functools.lru_cache(maxsize=None)
def executor_of(name, seed):
    with tvm.transform.PassContext(opt_level=1):
        built = relay.build(network(name, seed), target="llvm")
    return graph_executor.GraphModule(built["default"](tvm.cpu()))


def answers(name, seed, inputs):
    """What TVM's own compiler for this computer answers."""
    module, executor = network(name, seed), executor_of(name, seed)
    for parameter, value in zip(module["main"].params, inputs):
        executor.set_input(parameter.name_hint, value)
    executor.run()
    return [executor.get_output(i).numpy() for i in range(executor.get_num_outputs())]
