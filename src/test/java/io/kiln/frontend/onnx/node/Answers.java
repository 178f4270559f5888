// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.node;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.ir.Constant;
import io.kiln.ir.type.TensorType;

/**
 * Compares answers: integers and booleans for equality; floats within 1e-5 of the expected value, absolute and
 * relative (ONNX's own runner allows 1e-3 relative and 1e-7 absolute); floats of 16 bits within half of their last
 * place, because Kiln computes them in 32 bits.
 */
final class Answers {
    private static final double TOLERANCE = 1e-5;

    /** ONNX's own, for tests whose answers were computed with 3.1415 for pi, or are stated with four digits. */
    private static final double COARSE_TOLERANCE = 1e-3;

    private static final double HALF_TOLERANCE = 1.0 / (1 << 11);

    /** The published answers of conversions to bfloat16 are cut, where ONNX's operators, and ONNX Runtime, round. */
    private static final double BRAIN_TOLERANCE = 1.0 / (1 << 7);

    private Answers() {}

    /** What differs first; empty if nothing does. */
    static String difference(String test, OnnxTensor expected, TensorType type, Bytes actual) {
        Constant wanted = expected.constant();
        if (!type.equals(wanted.type())) {
            return "it is " + type.text() + ", not " + wanted.type().text();
        }
        Constant given = new Constant("", type, actual);
        double tolerance = tolerance(test, expected.type());
        for (int i = 0; i < wanted.elements(); i++) {
            boolean isSame = type.dtype() == DType.FLOAT32
                    ? isClose(wanted.real(i), given.real(i), tolerance)
                    : wanted.integer(i) == given.integer(i);
            if (!isSame) {
                return "element " + i + " is " + text(given, i) + ", not " + text(wanted, i);
            }
        }
        return "";
    }

    private static double tolerance(String test, ElementType type) {
        if (test.endsWith("BFLOAT16") || test.endsWith("BFLOAT16_expanded")) {
            return BRAIN_TOLERANCE;
        }
        if (type == ElementType.FLOAT16 || type == ElementType.BFLOAT16) {
            return HALF_TOLERANCE;
        }
        boolean isCoarse = test.contains("window") || test.contains("gridsample_bicubic") || test.contains("roialign");
        return isCoarse ? COARSE_TOLERANCE : TOLERANCE;
    }

    private static boolean isClose(float expected, float actual, double tolerance) {
        if (Float.isNaN(expected) || Float.isInfinite(expected)) {
            return Float.compare(expected, actual) == 0;
        }
        return Math.abs((double) expected - actual) <= tolerance * (1 + Math.abs(expected));
    }

    private static String text(Constant constant, int index) {
        return constant.type().dtype().isFloat()
                ? String.valueOf(constant.real(index))
                : String.valueOf(constant.integer(index));
    }
}
