// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.ir.Arg;
import io.kiln.ir.op.Concatenate;
import io.kiln.ir.op.Reshape;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/** CONCATENATION and PACK. Elements are copied as they are, whatever the scales: TensorFlow Lite Micro does not rescale here. */
final class JoinImporters {
    private static final int CONCATENATION_OPTIONS = 10;
    private static final int PACK_OPTIONS = 59;
    private static final int NO_ACTIVATION = 0;

    private JoinImporters() {}

    static void concatenate(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(CONCATENATION_OPTIONS);
        operator.require(
                options.u8(1, 0) == NO_ACTIVATION,
                "an activation is fused into it",
                "none: TensorFlow Lite Micro takes none here",
                "Put the activation behind it");
        int axis = ConstantParameters.axis(
                operator, options.i32(0, 0), operator.input(0).shape().rank());
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < operator.inputCount(); i++) {
            parts.add(operator.value(operator.input(i)));
        }
        join(operator, axis, parts);
    }

    static void pack(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(PACK_OPTIONS);
        Shape shape = operator.input(0).shape();
        int axis = ConstantParameters.axis(operator, options.i32(1, 0), shape.rank() + 1);
        operator.require(
                options.i32(0, 0) == operator.inputCount(),
                "values_count is " + options.i32(0, 0),
                operator.inputCount() + ", the number of inputs",
                "Export the model again");
        operator.check();
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.add(axis, 1);
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < operator.inputCount(); i++) {
            parts.add(operator.emit(new Reshape(new Shape(dims)), operator.value(operator.input(i))));
        }
        join(operator, axis, parts);
    }

    private static void join(OperatorContext operator, int axis, List<Arg> parts) {
        operator.finish(operator.emit(new Concatenate(axis, parts.size()), parts.toArray(Arg[]::new)));
    }
}
