// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Arg;
import io.kiln.ir.op.Clip;
import java.util.List;

/** Fused activation functions, which all limit the result to a range (CalculateActivationRange in kernel_util.cc). */
enum Activation {
    NONE(-Float.MAX_VALUE, Float.MAX_VALUE),
    RELU(0, Float.MAX_VALUE),
    RELU_N1_TO_1(-1, 1),
    RELU6(0, 6);

    private static final List<String> SCHEMA_NAMES =
            List.of("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT");

    private final float min;
    private final float max;

    Activation(float min, float max) {
        this.min = min;
        this.max = max;
    }

    /** The activation by its code in the schema; another one is noted as a problem. */
    static Activation read(OperatorContext operator, int code) {
        String name = code < SCHEMA_NAMES.size() ? SCHEMA_NAMES.get(code) : "" + code;
        operator.require(
                code < values().length,
                "fused activation " + name + " is not supported",
                "NONE, RELU, RELU6 or RELU_N1_TO_1",
                "Put the activation behind the operator, or train with a supported one");
        return code < values().length ? values()[code] : NONE;
    }

    /** Clips a value of the operator's output type, unless the type alone is limit enough. */
    Arg apply(OperatorContext operator, Arg value) {
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
