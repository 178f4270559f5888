// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.Locale;

/** Compares tensors: integers for equality, floats within 1e-5 + 1e-4 |expected| and a millionth of the largest. */
public final class Agreement {
    private Agreement() {}

    /**
     * How two tensors differ.
     *
     * @param allowance by how much integers may
     * @return empty if they agree
     */
    public static String difference(DType dtype, Bytes expected, Bytes actual, int allowance) {
        if (expected.size() != actual.size()) {
            return actual.size() + " bytes, not " + expected.size();
        }
        int count = expected.size() / dtype.bytes();
        double largest = 0;
        for (int i = 0; i < count; i++) {
            double magnitude = Math.abs(element(dtype, expected.buffer(), i));
            largest = Double.isFinite(magnitude) ? Math.max(largest, magnitude) : largest;
        }
        int wrong = 0;
        String first = "";
        for (int i = 0; i < count; i++) {
            double e = element(dtype, expected.buffer(), i);
            double a = element(dtype, actual.buffer(), i);
            // A double does not tell neighbours of 64 bits apart.
            boolean differ = dtype.isLong()
                    && allowance == 0
                    && expected.buffer().getLong(8 * i) != actual.buffer().getLong(8 * i);
            double limit = dtype.isFloat() ? 1e-5 + 1e-4 * Math.abs(e) + 1e-6 * largest : allowance;
            if (differ || !agree(e, a, limit)) {
                first = wrong++ == 0 ? String.format(Locale.ROOT, "element %d is %s, not %s", i, a, e) : first;
            }
        }
        return wrong == 0 ? "" : wrong + " of " + count + " differ; " + first;
    }

    private static boolean agree(double expected, double actual, double limit) {
        return Double.compare(limited(expected), limited(actual)) == 0 || Math.abs(expected - actual) <= limit;
    }

    /** TensorFlow Lite's arithmetic operators limit what overflows to the largest float, even without an activation. */
    private static double limited(double value) {
        return Math.max(-Float.MAX_VALUE, Math.min(Float.MAX_VALUE, value));
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
