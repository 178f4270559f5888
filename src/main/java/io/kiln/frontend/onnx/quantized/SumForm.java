// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.IntegerForm;
import io.kiln.frontend.onnx.operator.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.IntegerForm.Limits;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Convolutions and matrix products: sums of bytes times bytes, or of integers of 16 bits without a zero point times bytes, rescaled. The importer of the float operator runs again, with
 * bytes; {@link IntegerLayer} makes integer operators of what it emits.
 *
 * @param data the input
 * @param weight bytes, constant or a computed matrix
 * @param bias constant words with the scale of the products, or real numbers, if there is one
 */
record SumForm(Dequantized data, Dequantized weight, Optional<Bias> bias) {
    private static final Set<String> LAYERS = Set.of("Conv", "ConvTranspose", "Gemm", "MatMul");

    /** What is added to the sums of each channel. */
    sealed interface Bias {
        /** Words on the scale of the sums. */
        record Words(Arg words) implements Bias {}

        /** Real numbers, one for each channel or one for all. */
        record Reals(List<Float> reals) implements Bias {
            public Reals {
                reals = List.copyOf(reals);
            }

            /** The bias of each channel. */
            Constant ofChannels(int channels) {
                float[] all = new float[channels];
                for (int c = 0; c < channels; c++) {
                    all[c] = reals.get(reals.size() == 1 ? 0 : c);
                }
                return Constant.vector(all);
            }
        }
    }

    /** The form of a node; empty if it is another operator or not all of its inputs are quantized. */
    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node) {
        if (!LAYERS.contains(node.node().operator()) || node.inputs() < 2) {
            return Optional.empty();
        }
        float alpha = node.attributes().real("alpha", 1);
        Optional<Dequantized> data = QuantizedForms.bytes(node, 0)
                .or(() -> LayerBias.dequantized(node, 0).filter(SumForm::isSymmetric))
                .filter(d -> alpha > 0);
        Optional<Dequantized> weight = LayerBias.dequantized(node, 1).filter(w -> isWeight(node, w));
        boolean isTaken = data.isPresent()
                && weight.isPresent()
                && (data.get().by().isOfBytes() || takesShorts(node, weight.get()));
        if (!isTaken) {
            return Optional.empty();
        }
        SumForm plain = new SumForm(scaled(data.get(), alpha), weight.get(), Optional.empty());
        int channels = node.output(0)
                .map(v -> node.type(v.arg()).shape())
                .map(shape -> shape.rank() == 0 ? 1 : shape.dim(channelOfResult(node, shape.rank())))
                .orElse(1);
        Optional<Bias> bias =
                LayerBias.of(node, 2, plain, channels, node.attributes().real("beta", 1));
        return node.has(2) && bias.isEmpty()
                ? Optional.empty()
                : Optional.of(new DeferredSum(
                        importer, node.without("alpha").without("beta"), new SumForm(plain.data, plain.weight, bias)));
    }

    /** Whether data has 16 bits and no zero point, as layers of int16 need it. */
    private static boolean isSymmetric(Dequantized data) {
        return data.by().isOfShorts() && data.by().zeroPoint() == 0;
    }

    private static boolean takesShorts(NodeContext node, Dequantized weight) {
        return !node.node().operator().equals("ConvTranspose")
                && weight.integers() instanceof Constant
                && weight.by().zeroPoints().stream().allMatch(zero -> zero == 0);
    }

    /** Whether data has 16 bits, so that sums have 64. */
    boolean isWide() {
        return data.by().isOfShorts();
    }

    private static int channelOfResult(NodeContext node, int rank) {
        return node.node().operator().startsWith("Conv") ? 1 : rank - 1;
    }

    private static Dequantized scaled(Dequantized value, float factor) {
        return factor == 1
                ? value
                : new Dequantized(value.integers(), value.by().scaled(factor));
    }

    /** Several scales must be those of the channels of the result. Only a matrix may be computed. */
    private static boolean isWeight(NodeContext node, Dequantized weight) {
        ElementQuantization by = weight.by();
        String name = node.node().operator();
        boolean isMatrix = name.equals("Gemm") || name.equals("MatMul");
        boolean isOfChannels = !by.hasOneZeroPoint();
        if (!by.isOfBytes() || (isOfChannels && name.equals("ConvTranspose"))) {
            return false;
        }
        return by.isPerTensor()
                ? isMatrix || weight.integers() instanceof Constant
                : weight.integers() instanceof Constant && by.axis() == channelAxis(node, name);
    }

    private static int channelAxis(NodeContext node, String name) {
        return switch (name) {
            case "Conv" -> 0;
            case "ConvTranspose" -> node.attributes().whole("group", 1) == 1 ? 1 : -1;
            case "Gemm" -> node.attributes().truth("transB", false) ? 0 : 1;
            default -> node.shape(1).rank() == 1 ? -1 : node.shape(1).rank() - 1;
        };
    }

    /** The scale of the sums of each channel, or of all, in single precision. */
    List<Float> scales() {
        float from = data.by().scale();
        return weight.by().scales().stream().map(scale -> from * scale).toList();
    }

    /** Real numbers that are added to the sums, if there are such. */
    Optional<Bias.Reals> reals() {
        return bias.filter(Bias.Reals.class::isInstance).map(Bias.Reals.class::cast);
    }

    /** Words that are added to the sums, if there are such. */
    Optional<Arg> words() {
        return bias.filter(Bias.Words.class::isInstance).map(b -> ((Bias.Words) b).words());
    }

    /** Emits the layer with its bias, rescaling and limits. */
    Optional<Arg> emit(OnnxImporter importer, NodeContext node, ElementQuantization to, Limits limits) {
        Map<Integer, OnnxValue> integers = new LinkedHashMap<>();
        integers.put(0, new OnnxValue(data.integers(), ElementType.FLOAT));
        integers.put(1, new OnnxValue(weight.integers(), ElementType.FLOAT));
        words().ifPresent(words -> integers.put(2, new OnnxValue(words, ElementType.FLOAT)));
        NodeContext layer = words().isPresent() ? node : node.as(node.node().operator(), List.of(0, 1));
        return QuantizedForms.bytes(importer, layer, integers, new IntegerLayer(layer, this, to, limits));
    }
}
