# SPDX-License-Identifier: Apache-2.0
"""Registers the operators named tfl.* of Kiln's Relay text with TVM (tried with 0.18): import it before the text is parsed.

    import kiln_relay
    module = tvm.relay.parse(open("default.relay").read())

They compute as TensorFlow Lite's kernels do, and TVM's own operators do not. The call says what type the result has. Whoever wants TVM to
compile one of them gives it a legalization (tvm.relay.op.op.register_legalize) or takes it with an external code generator.
"""
import tvm
from tvm import relay
from tvm.relay.op import op as _registry

NAMES = """
    abs add add_n argmax argmin batch_matmul bitwise_and bitwise_or bitwise_xor broadcast_to cast ceil circular_buffer
    clip concatenate copy cos cumsum custom detection_postprocess divide dynamic_update_slice elu equal erf exp
    fixed_point_multiply floor floor_divide floor_mod full greater greater_equal hard_swish if_then_else image.resize2d
    l2_normalize leaky_relu left_shift less less_equal log log_softmax logical_and logical_not logical_or logistic16
    lookup max maximum mean min minimum ml.tree_ensemble multiply negative nn.avg_pool2d nn.bias_add nn.conv2d
    nn.conv2d_transpose nn.dense nn.leaky_relu nn.max_pool2d nn.pad nn.softmax not_equal onnx.avg_pool2d onnx.maximum
    onnx.minimum onnx.pair_lookup onnx.requantize onnx.resize2d onnx.round_bfloat16 onnx.round_float16 onnx.softmax
    prelu qnn.add qnn.conv2d qnn.conv2d_transpose qnn.dense qnn.dequantize qnn.mul qnn.quantize qnn.requantize
    qnn.subtract qnn_divide qnn_equal qnn_greater qnn_greater_equal qnn_less qnn_less_equal qnn_not_equal qnn_prelu
    qnn_squared_difference quantization_scale quantization_zero_point ref_write reinterpret requantize requantize_real
    reshape right_shift round rsqrt scatter_nd sigmoid signal_delay signal_energy signal_fft_auto_scale
    signal_filter_bank signal_filter_bank_log signal_filter_bank_spectral_subtraction signal_filter_bank_square_root
    signal_framer signal_irfft signal_overlap_add signal_pcan signal_rfft signal_stacker signal_window sin softmax sqrt
    squared_difference strided_slice subtract sum svdf take tanh tanh16 topk transpose unidirectional_sequence_lstm
    where while
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
