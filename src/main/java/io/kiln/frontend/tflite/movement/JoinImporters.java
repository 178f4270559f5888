// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.base.FixedPoint;
import io.kiln.frontend.tflite.elementwise.TableImporter;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operand.OperandTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.schema.FusedActivation;
import io.kiln.frontend.tflite.schema.MovementOptions.Concatenation;
import io.kiln.frontend.tflite.schema.MovementOptions.Pack;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * CONCATENATION and PACK. Elements are copied unchanged, even if scales differ, because TensorFlow Lite Micro does not
 * rescale here. For uint8, which it does not support, TensorFlow Lite's CONCATENATION rescales.
 */
final class JoinImporters {

    private JoinImporters() {}

    static void concatenate(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(Concatenation.TYPE);
        operator.require(
                options.get(Concatenation.FUSED_ACTIVATION_FUNCTION) == FusedActivation.NONE.code(),
                "an activation is fused into it",
                "none, which TensorFlow Lite Micro does not support here",
                "Put the activation after it");
        int axis = ConstantParameters.axis(
                operator,
                options.get(Concatenation.AXIS),
                operator.input(0).shape().rank());
        List<Arg> parts = new ArrayList<>();
        for (int i = 0; i < operator.inputCount(); i++) {
            parts.add(part(operator, operator.input(i)));
        }
        join(operator, axis, parts);
    }

    private static Arg part(OperatorContext operator, TfliteTensor tensor) {
        TfliteTensor output = operator.output();
        if (!tensor.shifted() || !output.shifted()) {
            return operator.value(tensor);
        }
        OperandTypes.requireScales(operator, tensor, output);
        operator.check();
        Quantization from = OperandTypes.quantization(tensor);
        Quantization to = OperandTypes.quantization(output);
        return from.equals(to) ? operator.value(tensor) : TableImporter.lookup(operator, tensor, rescaled(from, to));
    }

    /**
     * The rescaled value of each int8, for uint8 (ConcatenationWithScaling in reference/concatenation.h), in single
     * precision.
     */
    private static int[] rescaled(Quantization from, Quantization to) {
        int[] answers = new int[1 << Byte.SIZE];
        float scale = from.scale() * (1 / to.scale());
        float bias = -(from.zeroPoint() - Byte.MIN_VALUE) * scale;
        for (int i = 0; i < answers.length; i++) {
            long steps = FixedPoint.roundHalfAway(i * scale + bias);
            answers[i] = FixedPoint.clamp(
                    FixedPoint.clamp(steps, Integer.MIN_VALUE, Integer.MAX_VALUE) + (long) to.zeroPoint(),
                    Byte.MIN_VALUE,
                    Byte.MAX_VALUE);
        }
        return answers;
    }

    static void pack(OperatorContext operator) {
        FlatTable options = operator.requiredOptions(Pack.TYPE);
        Shape shape = operator.input(0).shape();
        int axis = ConstantParameters.axis(operator, options.get(Pack.AXIS), shape.rank() + 1);
        operator.require(
                options.get(Pack.VALUES_COUNT) == operator.inputCount(),
                "values_count is " + options.get(Pack.VALUES_COUNT),
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
