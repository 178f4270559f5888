// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.movement.BilinearImage;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.Expressions;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.OnnxBilinear;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.layer.OnnxResize2d;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An interpolated image of bytes, see {@link OnnxResize2d}.
 *
 * @param node where it is emitted
 * @param data the image
 * @param image where elements of the result lie
 */
record ResizeForm(NodeContext node, Dequantized data, BilinearImage image) implements Deferred {
    private static final Set<String> OPERATORS = Set.of("Resize", "Upsample");

    static Optional<IntegerForm> of(NodeContext node) {
        return QuantizedForms.bytes(node, 0)
                .filter(data -> OPERATORS.contains(node.node().operator()))
                .flatMap(data -> BilinearImage.of(node).map(image -> new ResizeForm(node, data, image)));
    }

    @Override
    public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
        if (image.isCopy(node.shape(0))) {
            return QuantizedForms.quantized(node, data, to, limits);
        }
        float from = data.by().scale();
        boolean isExact = SingleFactor.isOrdinary(from)
                && SingleFactor.isOrdinary(to.scale())
                && from / (double) to.scale() < OnnxBilinear.MOST_RATIO;
        return isExact
                ? Optional.of(QuantizedForms.limited(node, withOutside(interpolated(to), to), limits))
                : Optional.empty();
    }

    private Arg interpolated(ElementQuantization to) {
        Expressions e = new Expressions(node);
        Shape shape = node.shape(0);
        boolean isImage = shape.rank() == 4;
        Arg nhwc = isImage
                ? e.transpose(data.integers(), List.of(0, 2, 3, 1))
                : e.reshape(data.integers(), Shape.of(1, shape.dim(0), shape.dim(1), 1));
        Arg result = node.emit(
                new OnnxResize2d(),
                nhwc,
                places(e, image.rows()),
                weights(e, image.rows()),
                places(e, image.columns()),
                weights(e, image.columns()),
                Constant.scalar(data.by().scale()),
                Constant.scalar(data.by().zeroPoint()),
                Constant.scalar(to.scale()),
                Constant.scalar(to.zeroPoint()));
        return isImage
                ? e.transpose(result, List.of(0, 3, 1, 2))
                : e.reshape(
                        result, Shape.of(image.rows().size(), image.columns().size()));
    }

    private static Constant places(Expressions e, BilinearImage.Line line) {
        return e.ints(line.places(), Shape.of(2, line.size()));
    }

    private static Constant weights(Expressions e, BilinearImage.Line line) {
        float[] weights = new float[line.weights().size()];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = line.weights().get(i);
        }
        return e.reals(weights, Shape.of(2, line.size()));
    }

    /** Elements outside the data have a number of their own. */
    private Arg withOutside(Arg result, ElementQuantization to) {
        if (!image.hasOutside()) {
            return result;
        }
        Expressions e = new Expressions(node);
        List<Integer> rows = image.rows().inside();
        List<Integer> columns = image.columns().inside();
        Constant inside = e.places(
                Shape.of(rows.size(), columns.size()),
                i -> rows.get(i / columns.size()) * columns.get(i % columns.size()));
        Arg isInside = e.cast(inside, DType.BOOL);
        return e.where(isInside, result, e.number(to.quantize(image.outside()), DType.INT8));
    }
}
