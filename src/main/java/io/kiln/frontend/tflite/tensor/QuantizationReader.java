// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatVector;
import io.kiln.frontend.tflite.schema.ModelTables.QuantizationParameters;
import io.kiln.ir.type.TensorType;

/** Reads and checks the quantization of a tensor: finite positive scales, zero points within the type, one per channel. */
final class QuantizationReader {
    private QuantizationReader() {}

    /** @param bits of an element in the file: fewer than the type's for int4, which zero points must fit, too */
    static TensorQuantization read(FlatTable table, TensorType type, int bits, PlaceFindings findings) {
        FlatVector scales = table.get(QuantizationParameters.SCALE);
        FlatVector zeroPoints = table.get(QuantizationParameters.ZERO_POINT);
        if (table.get(QuantizationParameters.DETAILS_TYPE) != 0) {
            findings.add(
                    "custom quantization, or quantization of several axes, is not supported",
                    "scales for the tensor, for each channel or for each block of constants",
                    "Quantize the model again, for each channel");
            return TensorQuantization.NONE;
        }
        if (scales.size() == 0) {
            return TensorQuantization.NONE;
        }
        // Published models repeat the weights' dimension for the bias, a vector, for which only 0 makes sense.
        int dimension = type.shape().rank() == 1 ? 0 : table.get(QuantizationParameters.QUANTIZED_DIMENSION);
        if (!countsFit(scales, zeroPoints, dimension, type, findings)) {
            return TensorQuantization.NONE;
        }
        return new TensorQuantization(
                readScales(scales, findings),
                readZeroPoints(zeroPoints, scales.size(), Limits.of(type.dtype(), bits), findings),
                dimension);
    }

    private static boolean countsFit(
            FlatVector scales, FlatVector zeroPoints, int dimension, TensorType type, PlaceFindings findings) {
        int before = findings.count();
        if (scales.size() > 1) {
            int rank = type.shape().rank();
            if (dimension < 0 || dimension >= rank) {
                findings.add(
                        "quantized_dimension is " + dimension,
                        "a dimension from 0 to " + (rank - 1),
                        "Export the model again");
            } else if (type.shape().dim(dimension) != scales.size()) {
                findings.add(
                        scales.size() + " scales for " + type.shape().dim(dimension) + " channels in dimension "
                                + dimension,
                        "one scale, or one per channel of quantized_dimension",
                        "Export the model again");
            }
        }
        if (zeroPoints.size() > 1 && zeroPoints.size() != scales.size()) {
            findings.add(
                    zeroPoints.size() + " zero points for " + scales.size() + " scales",
                    "one zero point per scale",
                    "Export the model again");
        }
        return findings.count() == before;
    }

    private static float[] readScales(FlatVector vector, PlaceFindings findings) {
        float[] scales = new float[vector.spent().size()];
        int wrong = -1;
        for (int i = 0; i < scales.length; i++) {
            scales[i] = vector.f32(i);
            if (!(scales[i] > 0) || Float.isInfinite(scales[i])) {
                wrong = wrong < 0 ? i : wrong;
            }
        }
        if (wrong >= 0) {
            findings.add(
                    "scale[" + wrong + "] is " + scales[wrong], "finite scales above 0", "Quantize the model again");
        }
        return scales;
    }

    /** The range of zero points of a type; any number for floats, which do not use it. */
    private record Limits(long least, long most) {
        static Limits of(DType dtype, int bits) {
            if (!dtype.isInteger()) {
                return new Limits(Long.MIN_VALUE, Long.MAX_VALUE);
            }
            long lost = Byte.SIZE * (long) dtype.bytes() - bits;
            return new Limits(
                    Math.max(dtype.min() >> lost, Integer.MIN_VALUE), Math.min(dtype.max() >> lost, Integer.MAX_VALUE));
        }

        boolean has(long zeroPoint) {
            return zeroPoint >= least && zeroPoint <= most;
        }
    }

    private static int[] readZeroPoints(FlatVector vector, int count, Limits limits, PlaceFindings findings) {
        int[] zeroPoints = new int[count];
        vector.spent();
        for (int i = 0; i < zeroPoints.length && vector.size() > 0; i++) {
            long zeroPoint = vector.i64(vector.size() == 1 ? 0 : i);
            if (!limits.has(zeroPoint)) {
                findings.add(
                        "zero_point[" + i + "] is " + zeroPoint,
                        "a zero point from " + limits.least + " to " + limits.most,
                        "Quantize the model again");
                break;
            }
            zeroPoints[i] = (int) zeroPoint;
        }
        return zeroPoints;
    }
}
