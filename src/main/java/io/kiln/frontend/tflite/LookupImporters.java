// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.SupportedOperators.Support;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Resize2d;
import io.kiln.ir.op.Take;
import java.util.Map;

/** Elements found by index or coordinates: GATHER, RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR. */
final class LookupImporters {
    private static final int BILINEAR_OPTIONS = 15;
    private static final int GATHER_OPTIONS = 23;
    private static final int NEAREST_OPTIONS = 74;
    private static final int MAX_SIZE = 1 << 15;

    static final Map<Integer, Support> ALL = Map.ofEntries(
            Map.entry(23, new Support(operator -> resize(operator, true), 4)),
            Map.entry(36, new Support(LookupImporters::gather, 7)),
            Map.entry(97, new Support(operator -> resize(operator, false), 4)));

    private LookupImporters() {}

    private static void gather(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        TfliteTensor indices = operator.input(1);
        FlatTable options = operator.requiredOptions(GATHER_OPTIONS);
        operator.require(
                indices.dtype() == DType.INT32, "the indices are " + indices.text(), "int32", "Convert the indices");
        int axis = ConstantParameters.axis(
                operator, options.i32(0, 0), data.shape().rank());
        int stated = options.i32(1, 0);
        if (indices.isConstant()) {
            requireInside(operator, operator.constant(indices), data.shape().dim(axis));
        }
        operator.check();
        int batchDims = stated < 0 ? stated + indices.shape().rank() : stated;
        operator.finish(operator.emit(new Take(axis, batchDims), operator.value(data), operator.value(indices)));
    }

    private static void requireInside(OperatorContext operator, Constant indices, int size) {
        for (int i = 0; i < indices.elements(); i++) {
            long index = indices.integer(i);
            if (index < 0 || index >= size) {
                operator.require(false, "index " + index, "0 to " + (size - 1), "Export the model again");
                return;
            }
        }
    }

    private static void resize(OperatorContext operator, boolean linear) {
        TfliteTensor data = operator.input(0);
        int[] size = ConstantParameters.ints(operator, "height and width", operator.input(1), 2);
        FlatTable options = operator.requiredOptions(linear ? BILINEAR_OPTIONS : NEAREST_OPTIONS);
        int first = linear ? 2 : 0;
        boolean alignCorners = options.u8(first, 0) != 0;
        boolean halfPixelCenters = options.u8(first + 1, 0) != 0;
        operator.require(data.shape().rank() == 4, data.text() + " is not supported here", "rank 4", "");
        operator.require(
                !linear || data.dtype().isFloat() || data.dtype() == DType.INT8,
                data.text() + " is not supported here",
                "float32 or int8",
                "Quantize the model to int8 or keep it float32");
        operator.require(
                size[0] > 0 && size[1] > 0 && size[0] <= MAX_SIZE && size[1] <= MAX_SIZE,
                "the size is " + size[0] + ", " + size[1],
                "1 to " + MAX_SIZE,
                "Export the model again");
        operator.require(
                !linear || !(alignCorners && halfPixelCenters),
                "align_corners and half_pixel_centers are both set",
                "one of them at most",
                "Export the model again");
        operator.check();
        operator.finish(operator.emit(
                new Resize2d(size[0], size[1], linear, alignCorners, halfPixelCenters), operator.value(data)));
    }
}
