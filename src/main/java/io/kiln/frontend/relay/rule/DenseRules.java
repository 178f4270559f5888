// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.rule;

import io.kiln.base.DType;
import io.kiln.frontend.relay.pattern.IntegerData;
import io.kiln.frontend.relay.pattern.IntegerWeight;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Layouts;
import io.kiln.frontend.relay.value.Value;
import io.kiln.frontend.relay.value.ZeroPoints;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** Fully connected layers. */
final class DenseRules {
    private DenseRules() {}

    /** {@code nn.dense} of float32. */
    static Value real(CallSite call) {
        call.arity(2);
        if (!call.value(0).type().dtype().isFloat()) {
            return integers(call);
        }
        call.attributes().choiceOr("out_dtype", "float32", "float32", "");
        Arg result = call.emit(new Dense(units(call)), dataAndWeight(call));
        return Value.plain(result, call.type(result));
    }

    /** {@code qnn.dense}. */
    static Value quantized(CallSite call) {
        call.arity(6);
        List<Arg> args = new ArrayList<>(dataAndWeight(call));
        args.add(ZeroPoints.scalar(call.plain(2)));
        args.add(ZeroPoints.scalar(call.plain(3)));
        args.add(call.plain(4));
        args.add(call.plain(5));
        Arg result = call.emit(new QnnDense(units(call), Attribute.sumType(call.attributes())), args);
        return Value.plain(result, call.type(result));
    }

    /** {@code nn.dense} of integers, into which TVM expands {@code qnn.dense}. */
    private static Value integers(CallSite call) {
        call.attributes().choiceOr("out_dtype", "int32", "int32", "");
        IntegerData data = IntegerData.of(call, call.value(0));
        IntegerWeight weight = IntegerWeight.of(call.value(1));
        List<Arg> operands = dataAndWeight(call, data.value(), weight.value());
        Arg result = call.emit(
                new QnnDense(units(call), DType.INT32),
                IntegerData.arguments(operands, data.zeroPoint(), weight.zeroPoint()));
        return Value.plain(result, call.type(result));
    }

    private static int units(CallSite call) {
        Shape weight = call.value(1).type().shape();
        int rows = weight.rank() == 0 ? 1 : weight.dim(0);
        return call.attributes().integer("units", 1, Integer.MAX_VALUE, rows);
    }

    /** Data flattened from NCHW in the text is in NHWC order here, so the weight's columns are reordered. */
    private static List<Arg> dataAndWeight(CallSite call) {
        return dataAndWeight(call, call.value(0), call.value(1));
    }

    private static List<Arg> dataAndWeight(CallSite call, Value data, Value weights) {
        boolean reordered =
                data.flattened().filter(s -> !Layouts.isSameOrder(s)).isPresent();
        if (!reordered || !data.isWhole()) {
            return List.of(Layouts.plain(call, data), Layouts.plain(call, weights));
        }
        Shape nchw = data.flattened().orElseThrow();
        if (!(weights.arg() instanceof Constant weight) || !weights.isPlain()) {
            throw new IllegalArgumentException("the weight is not constant, and the data flattened NCHW");
        }
        Shape shape = weight.type().shape();
        int columns = nchw.dim(1) * nchw.dim(2) * nchw.dim(3);
        if (shape.rank() != 2 || shape.dim(1) != columns) {
            throw new IllegalArgumentException("weight " + shape.text() + " does not fit data "
                    + data.type().shape().text());
        }
        Constant cube = new Constant(
                weight.name(),
                new TensorType(
                        Shape.of(shape.dim(0), nchw.dim(1), nchw.dim(2), nchw.dim(3)),
                        weight.type().dtype()),
                weight.data());
        Constant arranged = Layouts.transpose(call, cube, Layouts.TO_CHANNELS_LAST);
        return List.of(data.arg(), new Constant(weight.name(), weight.type(), arranged.data()));
    }

    /** The NHWC axis of an NCHW axis. */
    static int heldAxis(int axis) {
        return Layouts.TO_CHANNELS_LAST.indexOf(axis < 0 ? axis + 4 : axis);
    }
}
