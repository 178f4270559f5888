# SPDX-License-Identifier: Apache-2.0
"""Registers the operators named tfl.* of Kiln's Relay text with TVM (tried with 0.18): import it before the text is parsed.

    import kiln_relay
    module = tvm.relay.parse(open("default.relay").read())

They compute as TensorFlow Lite's kernels do, and TVM's own operators do not. The call says what type the result has. When TVM compiles a
module it replaces tfl.requantize, tfl.qnn.add, tfl.qnn.subtract and tfl.nn.avg_pool2d by its own operators, which compute the same. The others it can only parse: give
them a legalization (tvm.relay.op.op.register_legalize), or take them with an external code generator.
"""
import math

import numpy
import tvm
from tvm import relay
from tvm.relay.op import op as _registry

NAMES = """
    abs add add_n argmax argmin atan2 batch_matmul bitwise_and bitwise_or bitwise_xor broadcast_to cast ceil
    circular_buffer clip concatenate copy cos cumsum custom detection_postprocess divide dynamic_update_slice elu
    equal erf erfc ethos_u ethos_u_tensor exp fixed_point_multiply floor floor_divide floor_mod full greater
    greater_equal hard_swish
    if_then_else image.resize2d l2_normalize leaky_relu left_shift less less_equal log log_softmax logical_and
    logical_not logical_or logistic16 lookup lookup16 max maximum mean min minimum ml.tree_ensemble multiply
    negative nn.avg_pool2d nn.bias_add nn.conv2d nn.conv2d_transpose nn.dense nn.leaky_relu nn.max_pool2d nn.pad
    nn.softmax not_equal onnx.avg_pool2d onnx.block_dense onnx.maximum onnx.minimum onnx.pair_lookup
    onnx.requantize onnx.resize2d onnx.round_bfloat16 onnx.round_float16 onnx.softmax power prelu prod product
    qnn.add qnn.conv2d qnn.conv2d_transpose qnn.dense qnn.dequantize qnn.mul qnn.quantize qnn.requantize
    qnn.subtract qnn_divide qnn_equal qnn_greater qnn_greater_equal qnn_less qnn_less_equal qnn_not_equal qnn_prelu
    qnn_squared_difference quantization_scale quantization_zero_point ref_write reinterpret requantize
    requantize_real reshape right_shift ring_write round rsqrt scatter_nd sigmoid signal_delay signal_energy
    signal_fft_auto_scale signal_filter_bank signal_filter_bank_log signal_filter_bank_spectral_subtraction
    signal_filter_bank_square_root signal_framer signal_irfft signal_overlap_add signal_pcan signal_rfft
    signal_stacker signal_window sin softmax sqrt squared_difference strided_slice subtract sum svdf take tanh
    tanh16 topk transpose unidirectional_sequence_lstm where while
""".split()

_OPAQUE = 8


def _result(arg_types, attrs):
    """The type of the result, which stands in the call."""
    return relay.TensorType([int(extent) for extent in attrs["ty_shape"]], str(attrs["ty_dtype"]))


def register(name):
    """Registers one operator; one that is there already stays as it is."""
    if name in set(tvm.ir.Op.list_op_names()):
        return
    _registry.register(name)
    operator = tvm.ir.Op.get(name)
    operator.set_num_inputs(-1)
    operator.set_attrs_type_key("DictAttrs")
    operator.add_type_rel("Kiln." + name, _result)
    operator.set_attr("TOpPattern", _OPAQUE)
    operator.set_attr("TOpIsStateful", False)


for _name in NAMES:
    register("tfl." + _name)

# TVM 0.18 has the attributes but does not say so, and its parser refuses them.
tvm.ir.Op.get("scatter_nd").set_attrs_type_key("relay.attrs.ScatterNDAttrs")


def _wide(number):
    return relay.const(number, "int64")


def _shifted_halves_up(value, shift):
    """value / 2**shift, halves upward, for shifts of 0 and more."""
    half = relay.right_shift(relay.left_shift(_wide(1), shift), _wide(1))
    return relay.right_shift(relay.add(value, half), shift)


def _shifted_halves_away(value, shift):
    """value / 2**shift, halves away from zero: a negative value lacks one before the shift."""
    half = relay.right_shift(relay.left_shift(_wide(1), shift), _wide(1))
    less = relay.where(relay.less(value, _wide(0)), relay.minimum(half, _wide(1)), _wide(0))
    return relay.right_shift(relay.subtract(relay.add(value, half), less), shift)


def _rounded_twice(value, multiplier, shift):
    """value * multiplier * 2**(shift - 31)."""
    value = relay.left_shift(value, relay.maximum(shift, _wide(0)))
    value = _shifted_halves_up(relay.multiply(value, multiplier), _wide(31))
    return _shifted_halves_away(value, relay.negative(relay.minimum(shift, _wide(0))))


def _rescaled(value, real):
    """The value times a number, which becomes a multiplier of 31 bits and a power of two (QuantizeMultiplier)."""
    fraction, exponent = math.frexp(real)
    multiplier = math.floor(fraction * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, exponent = 2**30, exponent + 1
    if exponent < -31:
        multiplier, exponent = 0, 0
    return _rounded_twice(value, _wide(multiplier), _wide(exponent))


def _saturated(value, dtype):
    limits = tvm.tir.min_value(dtype).value, tvm.tir.max_value(dtype).value
    return relay.cast(relay.minimum(relay.maximum(value, _wide(limits[0])), _wide(limits[1])), dtype)


def _requantize(attrs, inputs, types):
    """MultiplyByQuantizedMultiplier of TensorFlow Lite and the like, in 64 bits."""
    rank = len(types[0].shape)
    behind = (rank - 1 - int(attrs["axis"]) % rank) if rank else 0

    def wide(index):
        value = relay.cast(inputs[index], "int64")
        return relay.expand_dims(value, axis=1, num_newaxis=behind) if len(types[index].shape) and behind else value

    value = relay.subtract(relay.cast(inputs[0], "int64"), _wide(int(attrs["input_zero_point"])))
    multiplier, shift = wide(1), wide(2)
    rounding = str(attrs["rounding"])
    if rounding == "TFLITE" and types[0].dtype == "int64":
        short = relay.right_shift(relay.add(multiplier, _wide(1 << 15)), _wide(16))
        short = relay.where(relay.less(multiplier, _wide(0x7FFF0000)), short, _wide(0x7FFF))
        value = _shifted_halves_up(relay.multiply(value, short), relay.subtract(_wide(15), shift))
    elif rounding == "TFLITE":
        value = _rounded_twice(value, multiplier, shift)
    else:
        round_ = _shifted_halves_up if rounding == "UPWARD" else _shifted_halves_away
        value = round_(relay.multiply(value, multiplier), relay.subtract(_wide(31), shift))
    return _saturated(relay.add(value, _wide(int(attrs["output_zero_point"]))), types[-1].dtype)


def _average(attrs, inputs, types):
    """The mean over the part of a window that lies in the data, halves away from zero."""
    if str(attrs["rounding"]) != "TFLITE" or "int" not in types[0].dtype:
        return None
    window = {name: [int(extent) for extent in attrs[name]] for name in ("pool_size", "strides", "dilation", "padding")}
    elements = window["pool_size"][0] * window["pool_size"][1]

    def total(value):
        # A mean that counts the padding, of values that are multiples of its divisor.
        times = relay.multiply(value, _wide(elements))
        return relay.nn.avg_pool2d(times, layout="NHWC", count_include_pad=True, **window)

    value = relay.cast(inputs[0], "int64")
    count = total(relay.ones([int(extent) for extent in types[0].shape], "int64"))
    value = total(value)
    half = relay.right_shift(count, _wide(1))
    away = relay.where(relay.less(value, _wide(0)), relay.negative(half), half)
    return _saturated(relay.divide(relay.add(value, away), count), types[-1].dtype)


def _sum(operator, precision):
    """A sum or difference: both sides with more bits on one scale, then on that of the result. Quotients have the precision that the kernels have."""

    def legalize(attrs, inputs, types):
        if str(attrs["rounding"]) != "TFLITE" or not all(isinstance(value, relay.Constant) for value in inputs[2:]):
            return None
        scales = [precision(inputs[i].data.numpy()) for i in (2, 4, 6)]
        zeros = [int(inputs[i].data.numpy()) for i in (3, 5, 7)]
        bits = 15 if types[0].dtype == "int16" else 20
        twice = precision(2) * max(scales[:2])
        sides = []
        for value, zero, scale in zip(inputs[:2], zeros, scales):
            centred = relay.subtract(relay.cast(value, "int64"), _wide(zero))
            sides.append(_rescaled(relay.left_shift(centred, _wide(bits)), float(scale / twice)))
        value = _rescaled(operator(*sides), float(twice / (precision(1 << bits) * scales[2])))
        return _saturated(relay.add(value, _wide(zeros[2])), types[-1].dtype)

    return legalize


_registry.register_legalize("tfl.requantize", _requantize)
_registry.register_legalize("tfl.qnn.add", _sum(relay.add, numpy.float64))
_registry.register_legalize("tfl.qnn.subtract", _sum(relay.subtract, numpy.float32))
_registry.register_legalize("tfl.nn.avg_pool2d", _average)
