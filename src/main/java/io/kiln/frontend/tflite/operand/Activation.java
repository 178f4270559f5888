// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.operand;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.schema.SchemaEnums.FusedActivation;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.frontend.tflite.tensor.TfliteTensor.TensorQuantization;
import io.kiln.ir.Arg;
import io.kiln.ir.op.element.Clip;
import java.util.Arrays;
import java.util.Optional;

/**
 * Fused activation functions, all of which clamp the result to a range (CalculateActivationRange in kernel_util.cc).
 */
public enum Activation {
    NONE(Optional.of(FusedActivation.NONE), -Float.MAX_VALUE, Float.MAX_VALUE),
    RELU(Optional.of(FusedActivation.RELU), 0, Float.MAX_VALUE),
    RELU_N1_TO_1(Optional.of(FusedActivation.RELU_N1_TO_1), -1, 1),
    RELU6(Optional.of(FusedActivation.RELU6), 0, 6),
    /** An operator, which no other has fused. */
    RELU_0_TO_1(Optional.empty(), 0, 1);

    @SuppressWarnings("ImmutableEnumChecker") // Optional is immutable
    private final Optional<FusedActivation> stated;

    private final float min;
    private final float max;

    Activation(Optional<FusedActivation> stated, float min, float max) {
        this.stated = stated;
        this.min = min;
        this.max = max;
    }

    /** The activation of a code in the schema. An unsupported one is reported. */
    public static Activation read(OperatorContext operator, int code) {
        Optional<FusedActivation> stated = FusedActivation.of(code);
        Optional<Activation> supported = Arrays.stream(values())
                .filter(a -> a.stated.isPresent() && a.stated.equals(stated))
                .findFirst();
        operator.require(
                supported.isPresent(),
                "fused activation " + stated.map(Enum::name).orElse("" + code) + " is not supported",
                "NONE, RELU, RELU6 or RELU_N1_TO_1",
                "Put the activation after the operator, or train with a supported one");
        return supported.orElse(NONE);
    }

    /** Clips a value of the operator's output type, unless the type's own range suffices. */
    public Arg apply(OperatorContext operator, Arg value) {
        if (this == NONE) {
            return value;
        }
        TfliteTensor output = operator.output();
        if (output.dtype().isFloat()) {
            return operator.emit(new Clip(min, max), value);
        }
        DType dtype = output.dtype();
        boolean plain = dtype == DType.INT32;
        long low = Math.max(dtype.min(), plain ? (long) min : quantize(output.quantization(), min));
        long high = Math.min(dtype.max(), plain ? (long) max : quantize(output.quantization(), max));
        return low == dtype.min() && high == dtype.max() ? value : operator.emit(new Clip(low, high), value);
    }

    private static long quantize(TensorQuantization quantization, float limit) {
        long steps = FixedPoint.roundHalfAway(limit / quantization.scale(0));
        return quantization.zeroPoint() + Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, steps));
    }
}
