// SPDX-License-Identifier: Apache-2.0
package io.kiln.flow.verify;

import io.kiln.artifact.ModelMetadata.TensorInfo;
import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.report.VerifyReport.Tolerance;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Compares the answers of one case with the expected ones.
 *
 * @param outputs number of values compared
 * @param mismatches number of wrong values: integers not equal, floats outside the tolerance
 * @param maxAbsDiff largest absolute difference; {@code Double.MAX_VALUE} where exactly one of the two is NaN
 * @param bitExact whether all bytes are equal
 * @param first the first wrong value for people, empty if there is none
 */
record Comparison(long outputs, long mismatches, double maxAbsDiff, boolean bitExact, String first) {

    /**
     * Compares all outputs of a case.
     *
     * @param tensors the outputs' types
     * @param actual what was answered, one entry for each tensor
     * @param expected what was expected
     */
    static Comparison of(List<TensorInfo> tensors, List<Bytes> actual, List<Bytes> expected) {
        if (actual.size() != tensors.size() || expected.size() != tensors.size()) {
            throw new IllegalArgumentException("one entry for each output is needed");
        }
        Comparison all = new Comparison(0, 0, 0, true, "");
        for (int i = 0; i < tensors.size(); i++) {
            all = all.plus(one(tensors.get(i), actual.get(i), expected.get(i)));
        }
        return all;
    }

    private Comparison plus(Comparison other) {
        return new Comparison(
                outputs + other.outputs,
                mismatches + other.mismatches,
                Math.max(maxAbsDiff, other.maxAbsDiff),
                bitExact && other.bitExact,
                first.isEmpty() ? other.first : first);
    }

    private static Comparison one(TensorInfo tensor, Bytes actual, Bytes expected) {
        if (actual.size() != tensor.bytes() || expected.size() != tensor.bytes()) {
            throw new IllegalArgumentException(
                    tensor.name() + " has " + tensor.bytes() + " bytes, not " + actual.size() + ", " + expected.size());
        }
        DType dtype = tensor.dtype();
        ByteBuffer a = actual.buffer();
        ByteBuffer b = expected.buffer();
        long mismatches = 0;
        double maxAbsDiff = 0;
        String first = "";
        for (int i = 0; i < tensor.elements(); i++) {
            Number got = value(dtype, a);
            Number wanted = value(dtype, b);
            maxAbsDiff = Math.max(maxAbsDiff, difference(got, wanted));
            boolean right = dtype.isFloat()
                    ? Tolerance.FLOAT.accepts(got.doubleValue(), wanted.doubleValue())
                    : got.equals(wanted);
            if (!right) {
                mismatches++;
                if (first.isEmpty()) {
                    first = tensor.name() + "[" + i + "] is " + got + " instead of " + wanted;
                }
            }
        }
        return new Comparison(tensor.elements(), mismatches, maxAbsDiff, actual.equals(expected), first);
    }

    /** The next element, as a Long, a Float, or for uint64 a BigInteger. */
    private static Number value(DType dtype, ByteBuffer buffer) {
        return switch (dtype) {
            case INT8 -> (long) buffer.get();
            case UINT8, BOOL -> (long) Byte.toUnsignedInt(buffer.get());
            case INT16 -> (long) buffer.getShort();
            case INT32 -> (long) buffer.getInt();
            case UINT32 -> Integer.toUnsignedLong(buffer.getInt());
            case INT64 -> buffer.getLong();
            case UINT64 -> new BigInteger(Long.toUnsignedString(buffer.getLong()));
            case FLOAT32 -> buffer.getFloat();
        };
    }

    private static double difference(Number a, Number b) {
        double difference = a.equals(b) ? 0 : Math.abs(a.doubleValue() - b.doubleValue());
        return Double.isFinite(difference) ? difference : Double.MAX_VALUE;
    }
}
