// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.quantized.SumForm.Bias;
import io.kiln.ir.Constant;
import io.kiln.ir.type.Shape;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Reads the bias of a layer: words on the scale of its sums, words on another scale, or floats. */
final class LayerBias {
    /** Roundings between a bias's scale and the product of the others, in units of its last place. */
    private static final int ROUNDINGS = 2;

    private LayerBias() {}

    /** An input that is dequantized. */
    static Optional<Dequantized> dequantized(NodeContext node, int input) {
        return node.optional(input)
                .flatMap(OnnxValue::form)
                .filter(Dequantized.class::isInstance)
                .map(Dequantized.class::cast);
    }

    /**
     * The bias in an input of a layer; empty if there is none, or if it is not a constant for each channel.
     *
     * @param layer the layer without it
     * @param channels channels of the layer's result
     * @param factor of the bias
     */
    static Optional<Bias> of(NodeContext node, int input, SumForm layer, int channels, float factor) {
        Optional<Dequantized> words = words(node, input)
                .filter(b -> isOfSums(b.by().scaled(factor), layer))
                .filter(b -> isOfChannels(node.shape(input), channels))
                .filter(b -> node.shape(input).rank() > 0 && node.shape(input).elements() == channels);
        return words.isPresent()
                ? words.map(b -> new Bias.Words(b.integers()))
                : reals(node, input, channels, factor).map(b -> b);
    }

    /**
     * The real numbers of a bias in an input, likewise.
     *
     * @param factor of the bias
     */
    static Optional<Bias.Reals> reals(NodeContext node, int input, int channels, float factor) {
        if (!node.has(input) || !isOfChannels(node.shape(input), channels)) {
            return Optional.empty();
        }
        return words(node, input)
                .map(b -> reals((Constant) b.integers(), b.by()))
                .or(() -> node.arg(input) instanceof Constant && node.element(input) == ElementType.FLOAT
                        ? Optional.of(node.reals(input, "bias"))
                        : Optional.empty())
                .map(reals -> reals.stream().map(real -> real * factor).toList())
                .filter(reals -> reals.stream().allMatch(Float::isFinite))
                .map(Bias.Reals::new);
    }

    private static Optional<Dequantized> words(NodeContext node, int input) {
        return dequantized(node, input)
                .filter(b -> b.by().type() == ElementType.INT32 && b.integers() instanceof Constant);
    }

    /** Whether it broadcasts along the last axis only. */
    private static boolean isOfChannels(Shape shape, int channels) {
        boolean isVector = shape.rank() > 0 && shape.dim(-1) == channels && shape.elements() == channels;
        return isVector || shape.elements() == 1;
    }

    private static List<Float> reals(Constant words, ElementQuantization by) {
        int scales = by.scales().size();
        return IntStream.range(0, words.elements())
                .mapToObj(c -> (words.integer(c) - by.zeroPoints().get(scales == 1 ? 0 : c))
                        * by.scales().get(scales == 1 ? 0 : c))
                .toList();
    }

    /** Whether words can be added to the sums: their scale is that of a product, and their zero point is 0. */
    private static boolean isOfSums(ElementQuantization by, SumForm layer) {
        List<Float> products = layer.scales();
        int channels = Math.max(products.size(), by.scales().size());
        for (int c = 0; c < channels; c++) {
            float product = products.get(c % products.size());
            float stated = by.scales().get(c % by.scales().size());
            if (Math.abs(stated - product) > ROUNDINGS * Math.ulp(product)) {
                return false;
            }
        }
        return by.zeroPoints().stream().allMatch(zero -> zero == 0);
    }
}
