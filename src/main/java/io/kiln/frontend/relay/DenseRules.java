// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Dense;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/** Fully connected layers, and biases. */
final class DenseRules {
    private DenseRules() {}

    /** {@code nn.dense} of float32. */
    static Value real(CallSite call) {
        call.arity(2);
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
        Arg result = call.emit(new QnnDense(units(call), LayerOperators.sumDtype(call.attributes())), args);
        return Value.plain(result, call.type(result));
    }

    private static int units(CallSite call) {
        Shape weight = call.value(1).type().shape();
        int rows = weight.rank() == 0 ? 1 : weight.dim(0);
        return call.attributes().integer("units", 1, Integer.MAX_VALUE, rows);
    }

    /** What was flattened from NCHW in the text lies as NHWC: the weight's columns are put in that order. */
    private static List<Arg> dataAndWeight(CallSite call) {
        Value data = call.value(0);
        boolean reordered =
                data.flattened().filter(s -> !Layouts.isSameOrder(s)).isPresent();
        if (!reordered || !data.isWhole()) {
            return List.of(call.plain(0), call.plain(1));
        }
        Shape nchw = data.flattened().orElseThrow();
        Constant weight = call.constant(1);
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
        Constant arranged = Layouts.transpose(cube, Layouts.TO_CHANNELS_LAST);
        return List.of(data.arg(), new Constant(weight.name(), weight.type(), arranged.data()));
    }

    /** {@code nn.bias_add}. */
    static Value bias(CallSite call) {
        call.arity(2);
        int axis = call.attributes().integer("axis", -4, 3, 1);
        Value data = call.value(0);
        if (!data.channelsLast() || !data.isWhole()) {
            Arg result = call.emit(new BiasAdd(axis), List.of(call.plain(0), call.plain(1)));
            return Value.plain(result, call.type(result));
        }
        Arg result = call.emit(new BiasAdd(heldAxis(axis)), List.of(data.arg(), call.plain(1)));
        return data.with(result, data.type());
    }

    /** Where an axis of NCHW lies in NHWC. */
    static int heldAxis(int axis) {
        return Layouts.TO_CHANNELS_LAST.indexOf(axis < 0 ? axis + 4 : axis);
    }
}
