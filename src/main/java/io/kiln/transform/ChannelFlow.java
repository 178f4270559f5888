// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/** How an operator's channels hang together. The channels of a value are the elements along its last axis. */
sealed interface ChannelFlow {
    /** Every output channel is computed from all input channels of argument 0: convolutions and dense layers. */
    record Mixes() implements ChannelFlow {}

    /**
     * Output channel {@code o} is computed from one channel of each argument that is no constant, {@code o / divisor %
     * modulus}: element-wise operators, pools, depthwise convolutions (divisor: outputs per input), and reshapes that only
     * lay pixels side by side (modulus: channels of a pixel).
     */
    record Follows(int divisor, int modulus) implements ChannelFlow {
        int source(int output) {
            return output / divisor % modulus;
        }
    }

    /** Not known; the channels stay as they are. */
    record Opaque() implements ChannelFlow {}

    /** The flow through a binding, given the types of all values. */
    static ChannelFlow of(Binding binding, Map<Integer, TensorType> types) {
        Op op = binding.op();
        boolean integer = binding.type().dtype().isInteger() && binding.args().get(0) instanceof Arg.Ref;
        boolean othersConstant = binding.args().stream().skip(1).allMatch(Constant.class::isInstance);
        if (op instanceof QnnAdd sum) {
            boolean tried = sum.rounding() == Rounding.TFLITE && binding.type().dtype() == DType.INT8;
            return tried ? ofSum(binding, types) : new Opaque();
        }
        if (!integer || !othersConstant || isWide(binding, types)) {
            return new Opaque();
        }
        int inputs = channels(types.get(binding.ref(0)).shape());
        if (op instanceof QnnConv2d conv) {
            return ofConvolution(conv, inputs);
        }
        if (op instanceof QnnDense) {
            return new Mixes();
        }
        return isChannelwise(binding, inputs) ? new Follows(1, inputs) : new Opaque();
    }

    /** Sums of 64 bits lie beyond what ranges are computed in. */
    private static boolean isWide(Binding binding, Map<Integer, TensorType> types) {
        return binding.type().dtype().isLong()
                || types.get(binding.ref(0)).dtype().isLong();
    }

    private static boolean isChannelwise(Binding binding, int inputs) {
        Op op = binding.op();
        if (op instanceof BiasAdd bias) {
            return isLast(bias.axis(), binding);
        }
        if (op instanceof TflRequantize requantize) {
            return isLast(requantize.axis(), binding);
        }
        if (op instanceof Reshape) {
            return channels(binding.type().shape()) % inputs == 0;
        }
        return op instanceof Clip || op instanceof AvgPool2d || op instanceof MaxPool2d;
    }

    /** Number of channels: the last dimension, 1 for a scalar. */
    static int channels(Shape shape) {
        return shape.rank() == 0 ? 1 : shape.dim(-1);
    }

    private static ChannelFlow ofConvolution(QnnConv2d conv, int inputs) {
        if (conv.isDepthwise(inputs)) {
            return new Follows(conv.channels() / inputs, inputs);
        }
        return conv.groups() == 1 ? new Mixes() : new Opaque();
    }

    /** Operands may be broadcast only if they are constant. */
    private static ChannelFlow ofSum(Binding sum, Map<Integer, TensorType> types) {
        boolean same = true;
        for (Arg operand : List.of(sum.args().get(0), sum.args().get(1))) {
            same &= operand instanceof Constant
                    || types.get(((Arg.Ref) operand).id()).equals(sum.type());
        }
        return same ? new Follows(1, channels(sum.type().shape())) : new Opaque();
    }

    private static boolean isLast(int axis, Binding binding) {
        int rank = binding.type().shape().rank();
        return rank > 0 && (axis < 0 ? axis + rank : axis) == rank - 1;
    }
}
