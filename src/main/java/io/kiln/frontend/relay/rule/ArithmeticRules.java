// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.base.DType;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Value;
import io.kiln.frontend.relay.value.ZeroPoints;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.type.TensorType;
import java.util.List;

/** Element-wise operators. */
final class ArithmeticRules {
    private static final String TFLITE = Rounding.TFLITE.name();

    private ArithmeticRules() {}

    /** {@code qnn.requantize}; options of TVM's configuration have TVM's defaults: rounding upward, in 64 bits. */
    static Value requantize(CallSite call) {
        call.arity(5);
        Attributes a = call.attributes();
        String rounding = a.choiceOr("rounding", "UPWARD", "UPWARD", "TONEAREST", "ONNX", "None");
        a.choiceOr("compute_dtype", QnnRequantize.COMPUTE_DTYPE, QnnRequantize.COMPUTE_DTYPE, "None");
        int axis = a.integer("axis", -4, 3, -1);
        a.choice("out_dtype", DType.INT8.text());
        Value data = call.value(0);
        boolean perChannel = call.value(1).type().shape().elements() > 1;
        boolean held = data.padding().isEmpty()
                && (data.widened() || data.channelsLast() || (data.flattened().isPresent() && !perChannel));
        Arg arg = held ? data.arg() : call.plain(0);
        Op op = new QnnRequantize(
                !held || !data.channelsLast() ? axis : perChannel ? DenseRules.heldAxis(axis) : -1,
                rounding.equals("None") ? Rounding.UPWARD : Rounding.valueOf(rounding),
                DType.INT8);
        Arg result = call.emit(
                op, List.of(arg, call.plain(1), ZeroPoints.scalar(call.plain(2)), call.plain(3), call.plain(4)));
        TensorType type = new TensorType(data.type().shape(), DType.INT8);
        return held ? data.asWidened(false, type).with(result, type) : Value.plain(result, type);
    }

    /** {@code clip}. */
    static Value clip(CallSite call) {
        call.arity(1);
        Clip clip = new Clip(call.attributes().real("a_min"), call.attributes().real("a_max"));
        return call.value(0).type().dtype() == DType.INT64
                ? ElementRules.limited(call, clip)
                : ElementRules.unary(call, clip);
    }

    /** {@code nn.relu} of float32, or of int8 whose zero point is 0. */
    static Value relu(CallSite call) {
        call.arity(1);
        boolean isFloat = call.value(0).type().dtype().isFloat();
        return ElementRules.unary(
                call,
                new Clip(
                        0,
                        isFloat ? Float.MAX_VALUE : call.value(0).type().dtype().max()));
    }

    /** {@code nn.softmax} over the last axis. */
    static Value softmax(CallSite call) {
        call.arity(1);
        int rank = call.value(0).type().shape().rank();
        int axis = call.attributes().integer("axis", -rank, Math.max(-1, rank - 1), -1);
        if (axis != -1 && axis != rank - 1) {
            throw new IllegalArgumentException("the axis " + axis + " is not the last");
        }
        return call.compute(new Softmax((float) call.attributes().real("beta", 1)));
    }

    /** {@code qnn.quantize}; TensorFlow Lite and TVM compute the same, ONNX has a rounding of its own. */
    static Value quantize(CallSite call) {
        call.arity(3);
        String rounding = call.attributes().choiceOr("rounding", TFLITE, TFLITE, Rounding.ONNX.name());
        call.attributes().integer("axis", -4, 3, -1);
        return call.compute(new QnnQuantize(
                call.attributes().dtype("out_dtype", DType.INT8, DType.INT16), Rounding.valueOf(rounding)));
    }

    /** {@code qnn.dequantize}. */
    static Value dequantize(CallSite call) {
        call.arity(3);
        call.attributes().integer("axis", -4, 3, -1);
        call.attributes().choiceOr("out_dtype", "float32", "float32");
        return call.compute(new QnnDequantize());
    }

    /** {@code qnn.add}: in TensorFlow Lite's arithmetic if an attribute says so, otherwise in TVM's. */
    static Value addQuantized(CallSite call) {
        call.arity(8);
        String rounding = call.attributes().choiceOr("rounding", Rounding.UPWARD.name(), TFLITE, "UPWARD");
        call.attributes().integer("lhs_axis", -1, -1, -1);
        call.attributes().integer("rhs_axis", -1, -1, -1);
        return ElementRules.binary(call, new QnnAdd(Rounding.valueOf(rounding)));
    }
}
