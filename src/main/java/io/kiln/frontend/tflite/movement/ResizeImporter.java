// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.operand.ConstantParameters;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.OperatorImporter;
import io.kiln.frontend.tflite.schema.MovementOptions.ResizeBilinear;
import io.kiln.frontend.tflite.schema.MovementOptions.ResizeNearestNeighbor;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.op.layer.Resize2d;

/**
 * RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR of images, NHWC.
 *
 * @param linear whether it is RESIZE_BILINEAR
 */
record ResizeImporter(boolean linear) implements OperatorImporter {
    private static final int MAX_SIZE = 1 << 15;

    @Override
    public void emit(OperatorContext operator) {
        TfliteTensor data = operator.input(0);
        int[] size = ConstantParameters.ints(operator, "height and width", operator.input(1), 2);
        FlatTable options = operator.requiredOptions(linear ? ResizeBilinear.TYPE : ResizeNearestNeighbor.TYPE);
        boolean alignCorners = options.get(linear ? ResizeBilinear.ALIGN_CORNERS : ResizeNearestNeighbor.ALIGN_CORNERS);
        boolean halfPixelCenters =
                options.get(linear ? ResizeBilinear.HALF_PIXEL_CENTERS : ResizeNearestNeighbor.HALF_PIXEL_CENTERS);
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
