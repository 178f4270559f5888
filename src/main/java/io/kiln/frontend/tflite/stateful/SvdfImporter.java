// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.stateful;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.Activation;
import io.kiln.frontend.tflite.operand.ElementTypes;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.LayerOptions.SVDF;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Optional;

/** SVDF in float32, and in int8 with a state of int16 or int8, as in TensorFlow Lite Micro's svdf_common.cc. */
final class SvdfImporter implements OperatorImporter {
    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor features = operator.input(1);
        TfliteTensor times = operator.input(2);
        TfliteTensor state = operator.input(Svdf.STATE);
        FlatTable options = operator.requiredOptions(SVDF.TYPE);
        int rank = options.get(SVDF.RANK);
        Activation activation = Activation.read(operator, options.get(SVDF.FUSED_ACTIVATION_FUNCTION));
        checkConstants(operator, rank);
        boolean isFloat = data.dtype().isFloat();
        if (!isFloat) {
            for (TfliteTensor tensor : new TfliteTensor[] {data, features, times, state, operator.output()}) {
                ElementTypes.requireScale(operator, tensor);
            }
        }
        operator.check();
        Svdf op = isFloat
                ? new Svdf(rank, 0, 0, 0)
                : new Svdf(rank, zeroPoint(data), zeroPoint(state), zeroPoint(operator.output()));
        QuantizedMultiplier feature =
                isFloat ? new QuantizedMultiplier(1, 0) : multiplier(operator, data, features, state);
        QuantizedMultiplier result =
                isFloat ? new QuantizedMultiplier(1, 0) : multiplier(operator, state, times, operator.output());
        Arg value = operator.emit(
                op,
                operator.value(data),
                operator.constant(features),
                operator.constant(times),
                bias(operator, features.shape().dim(0) / rank, isFloat),
                operator.value(state),
                operator.graph().variable(state.name() + "_slot", new TensorType(Shape.of(1), DType.INT32)),
                Constant.scalar(feature.multiplier()),
                Constant.scalar(feature.shift()),
                Constant.scalar(result.multiplier()),
                Constant.scalar(result.shift()));
        // The integer kernel clamps its result to int8 and ignores the activation.
        operator.finish(isFloat ? activation.apply(operator, value) : value);
    }

    private static void checkConstants(OperatorContext operator, int rank) {
        TfliteTensor features = operator.input(1);
        TfliteTensor state = operator.input(Svdf.STATE);
        ElementTypes.requireConstant(operator, "feature weights", features);
        ElementTypes.requireConstant(operator, "time weights", operator.input(2));
        operator.require(
                state.variable(), "the state `" + state.name() + "` is not a variable", "a variable tensor", "");
        operator.require(
                rank > 0 && features.shape().rank() == 2 && features.shape().dim(0) % rank == 0,
                "rank " + rank + " does not divide the filters of " + features.text(),
                "a rank that divides the number of filters",
                "Export the model again");
    }

    private static Arg bias(OperatorContext operator, int units, boolean isFloat) {
        Optional<TfliteTensor> bias = operator.optionalInput(3);
        if (bias.isPresent()) {
            ElementTypes.requireConstant(operator, "bias", bias.get());
            operator.check();
            return operator.constant(bias.get());
        }
        operator.spend(4L * units);
        return isFloat ? Constant.vector(new float[units]) : Constant.vector(new int[units]);
    }

    private static int zeroPoint(TfliteTensor tensor) {
        return tensor.quantization().zeroPoint();
    }

    /** The scales' product and quotient in single precision, as in the kernel. */
    private static QuantizedMultiplier multiplier(
            OperatorContext operator, TfliteTensor a, TfliteTensor b, TfliteTensor out) {
        float real = a.quantization().scale(0)
                * b.quantization().scale(0)
                / out.quantization().scale(0);
        if (!Float.isFinite(real)) {
            throw operator.failure("its scales multiply to " + real, "scales of ordinary size");
        }
        return QuantizedMultiplier.of(real);
    }
}
