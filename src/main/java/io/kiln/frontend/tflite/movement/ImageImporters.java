// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.movement;

import static io.kiln.frontend.tflite.operator.Registration.builtin;
import static io.kiln.frontend.tflite.operator.Registration.builtinOfBytes;
import static io.kiln.frontend.tflite.operator.Registration.custom;

import io.kiln.base.DType;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.operator.CustomOptions;
import io.kiln.frontend.tflite.operator.OperatorContext;
import io.kiln.frontend.tflite.operator.Registration;
import io.kiln.frontend.tflite.operator.Registration.OperatorImporter;
import io.kiln.frontend.tflite.schema.BuiltinOperator;
import io.kiln.frontend.tflite.schema.OperatorOptions.ResizeBilinear;
import io.kiln.frontend.tflite.schema.OperatorOptions.ResizeNearestNeighbor;
import io.kiln.frontend.tflite.tensor.TfliteTensor;
import io.kiln.ir.Arg;
import io.kiln.ir.arith.DetectionBoxes;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.layer.DetectionPostprocess;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Operators on images and on the output of detectors. */
public final class ImageImporters {
    private static final int MAX = Integer.MAX_VALUE;
    private static final int INPUTS = 3;
    private static final int OUTPUTS = 4;
    private static final int DEFAULT_PER_CLASS = 100;

    public static final List<Registration> ALL = List.of(
            builtin(BuiltinOperator.RESIZE_BILINEAR, 4, new ResizeImporter(true)),
            builtinOfBytes(BuiltinOperator.RESIZE_NEAREST_NEIGHBOR, 4, new ResizeImporter(false)),
            custom("TFLite_Detection_PostProcess", ImageImporters::detection));

    private ImageImporters() {}

    /**
     * RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR of images, NHWC.
     *
     * @param linear whether it is RESIZE_BILINEAR
     */
    private record ResizeImporter(boolean linear) implements OperatorImporter {
        private static final int MAX_SIZE = 1 << 15;

        @Override
        public void emit(OperatorContext operator) {
            TfliteTensor data = operator.input(0);
            int[] size = operator.integers("height and width", operator.input(1), 2);
            FlatTable options = operator.requiredOptions(linear ? ResizeBilinear.TYPE : ResizeNearestNeighbor.TYPE);
            boolean alignCorners =
                    options.get(linear ? ResizeBilinear.ALIGN_CORNERS : ResizeNearestNeighbor.ALIGN_CORNERS);
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
                    "1 to " + MAX_SIZE);
            operator.requireThat(
                    !linear || !(alignCorners && halfPixelCenters),
                    "align_corners and half_pixel_centers are both set",
                    "one of them at most");
            operator.finish(
                    new Resize2d(size[0], size[1], linear, alignCorners, halfPixelCenters), operator.value(data));
        }
    }

    /** TFLite_Detection_PostProcess; inputs of uint8 are converted to floats first, as in TensorFlow Lite's kernel. */
    private static void detection(OperatorContext operator) {
        DetectionPostprocess op = options(operator.customOptions());
        operator.requireThat(
                operator.inputCount() == INPUTS && operator.outputs().size() == OUTPUTS,
                "it has " + operator.inputCount() + " inputs and "
                        + operator.outputs().size() + " outputs",
                "box encodings, scores and anchors; boxes, classes, scores and their number");
        List<TfliteTensor> inputs = new ArrayList<>();
        for (int i = 0; i < INPUTS; i++) {
            inputs.add(operator.input(i));
            operator.requireTypes(Set.of(DType.FLOAT32, DType.UINT8), inputs.get(i));
        }
        operator.requireThat(
                !inputs.get(0).isConstant() || !inputs.get(1).isConstant(),
                "its box encodings and scores are constant",
                "values computed by a detector",
                "");
        Arg[] args = inputs.stream().map(input -> real(operator, input)).toArray(Arg[]::new);
        emit(operator, op, operator.emit(op, args));
    }

    private static DetectionPostprocess options(CustomOptions options) {
        return new DetectionPostprocess(
                options.integer("max_detections", 1, MAX),
                options.integer("max_classes_per_detection", 1, MAX),
                options.integer("detections_per_class", 1, MAX, DEFAULT_PER_CLASS),
                options.truth("use_regular_nms", false),
                options.integer("num_classes", 1, MAX),
                options.real("nms_score_threshold"),
                options.real("nms_iou_threshold"),
                List.of(
                        options.real("y_scale"),
                        options.real("x_scale"),
                        options.real("h_scale"),
                        options.real("w_scale")));
    }

    private static Arg real(OperatorContext operator, TfliteTensor tensor) {
        Arg value = operator.value(tensor);
        if (tensor.dtype().isFloat()) {
            return value;
        }
        operator.checkScales(tensor);
        return operator.emit(new QnnDequantize(), value, tensor.scale(), tensor.zeroPoint());
    }

    private static void emit(OperatorContext operator, DetectionPostprocess op, Arg packed) {
        int n = op.detections();
        int[] ends = {op.firstClass(), op.firstScore(), op.count(), op.count() + 1};
        List<Shape> shapes =
                List.of(Shape.of(1, n, DetectionBoxes.COORDINATES), Shape.of(1, n), Shape.of(1, n), Shape.of(1));
        int begin = 0;
        for (int i = 0; i < OUTPUTS; i++) {
            Arg part = operator.emit(new StridedSlice(List.of(begin), List.of(ends[i]), List.of(1)), packed);
            TfliteTensor output = operator.outputs().get(i);
            Arg value = operator.emit(new Reshape(shapes.get(i)), part);
            if (output.shape().rank() == 0) {
                operator.values().define(output.index(), value);
            } else {
                operator.finish(output, value);
            }
            begin = ends[i];
        }
    }
}
