// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.function.DoubleUnaryOperator;

/**
 * Compares tensors: integers for equality, floats within 1e-5 + 1e-4 |expected| and a millionth of the largest that is below {@link #HUGE}, so
 * that a number at the border of what is infinite does not excuse the others.
 */
public final class Agreement {
    private static final double HUGE = 1e30;

    private Agreement() {}

    /**
     * How two tensors differ.
     *
     * @return empty if they agree
     */
    public static String difference(DType dtype, Bytes expected, Bytes actual) {
        return difference(dtype, expected, actual, value -> value);
    }

    /**
     * How a tensor differs from TensorFlow Lite's, whose arithmetic operators limit what overflows to the largest float, even without an activation.
     *
     * @return empty if they agree
     */
    public static String differenceFromOracle(DType dtype, Bytes oracle, Bytes actual) {
        return difference(dtype, oracle, actual, value -> Math.max(-Float.MAX_VALUE, Math.min(Float.MAX_VALUE, value)));
    }

    private static String difference(DType dtype, Bytes expected, Bytes actual, DoubleUnaryOperator limited) {
        if (expected.size() != actual.size()) {
            return actual.size() + " bytes, not " + expected.size();
        }
        int count = expected.size() / dtype.bytes();
        double largest = 0;
        for (int i = 0; i < count; i++) {
            double magnitude = Math.abs(element(dtype, expected.buffer(), i));
            largest = magnitude < HUGE ? Math.max(largest, magnitude) : largest;
        }
        int wrong = 0;
        String first = "";
        for (int i = 0; i < count; i++) {
            double e = element(dtype, expected.buffer(), i);
            double a = element(dtype, actual.buffer(), i);
            // A double does not tell neighbours of 64 bits apart.
            boolean differ = dtype.isLong()
                    && expected.buffer().getLong(8 * i) != actual.buffer().getLong(8 * i);
            double limit = dtype.isFloat() ? 1e-5 + 1e-4 * Math.abs(e) + 1e-6 * largest : 0;
            boolean isNear = Double.isFinite(e) && Math.abs(e - a) <= limit;
            if (differ || (!isNear && Double.compare(limited.applyAsDouble(e), limited.applyAsDouble(a)) != 0)) {
                first = wrong++ == 0 ? String.format(Locale.ROOT, "element %d is %s, not %s", i, a, e) : first;
            }
        }
        return wrong == 0 ? "" : wrong + " of " + count + " differ; " + first;
    }

    private static double element(DType dtype, ByteBuffer data, int index) {
        int at = index * dtype.bytes();
        return switch (dtype) {
            case INT8 -> data.get(at);
            case UINT8, BOOL -> data.get(at) & 0xFF;
            case INT16 -> data.getShort(at);
            case INT32 -> data.getInt(at);
            case UINT32 -> data.getInt(at) & 0xFFFFFFFFL;
            case INT64 -> data.getLong(at);
            case UINT64 -> new BigInteger(Long.toUnsignedString(data.getLong(at))).doubleValue();
            case FLOAT32 -> data.getFloat(at);
        };
    }
}
