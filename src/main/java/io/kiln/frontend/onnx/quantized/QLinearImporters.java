// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Limits;
import io.kiln.frontend.onnx.quantized.ElementOperand.ElementForm.PairForm;
import io.kiln.frontend.onnx.quantized.QuantizedNodes.SoftmaxForm;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.OnnxSoftmaxArithmetic;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Lookups.PairLookup;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax;
import io.kiln.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code QLinear...} operators of ONNX Runtime, whose operands come with their scales and zero points, the result's last: A, its scale and zero
 * point, B and its, then those of the result. For {@code QLinearAdd} and {@code QLinearMul} the order of operations in single precision is that of
 * MlasQLinearAdd and MlasQLinearMul with fused multiply-adds (core/mlas/lib/qladd.cpp, qlmul.cpp); zero points are added before rounding.
 */
final class QLinearImporters {
    private static final int ALONG_AXIS = 13;

    private static final int FIRST = 2;
    private static final int INPUTS_OF_PART = 3;

    private static final int RESULT_SCALE = 6;

    private QLinearImporters() {}

    /** The sum: {@code a * A + (b * B + c)}, where c has all zero points. */
    static final OnnxImporter ADD = node -> emit(node, (x, y, lhs, rhs, to) -> {
        float a = lhs.scale() / to.scale();
        float b = rhs.scale() / to.scale();
        float c = inModel(to) - Math.fma(a, inModel(lhs), b * inModel(rhs));
        return Math.rint(Math.fma(a, (float) (x + sign(lhs)), Math.fma(b, (float) (y + sign(rhs)), c))) - sign(to);
    });

    /** The product: {@code A * B * (a * b / c)}. */
    static final OnnxImporter MULTIPLY = node -> emit(node, (x, y, lhs, rhs, to) -> {
        float scale = lhs.scale() * rhs.scale() / to.scale();
        float product = (float) (x - lhs.zeroPoint()) * (y - rhs.zeroPoint());
        return Math.rint(product * scale + inModel(to)) - sign(to);
    });

    /** The result of two bytes as int8, before it saturates. */
    @FunctionalInterface
    private interface Formula {
        double of(int x, int y, ElementQuantization lhs, ElementQuantization rhs, ElementQuantization to);
    }

    private static void emit(NodeContext node, Formula formula) {
        ElementType type = node.element(0);
        node.require(
                node.element(3) == type,
                "it mixes " + type.text() + " and " + node.element(3).text(),
                "one type");
        ElementQuantization lhs = ElementQuantization.readOne(node, 1, 2, type);
        ElementQuantization rhs = ElementQuantization.readOne(node, 4, 5, type);
        ElementQuantization to = ElementQuantization.readOne(node, RESULT_SCALE, RESULT_SCALE + 1, type);
        PairForm pair = new PairForm(
                new Dequantized(QuantizedBytes.of(node, node.input(0)), lhs),
                new Dequantized(QuantizedBytes.of(node, node.input(3)), rhs));
        PairLookup kind = pair.kind(node.node().operator(), to);
        Arg bytes = pair.emit(node, kind, Limits.NONE, (x, y) -> formula.of(x, y, lhs, rhs, to));
        node.finish(0, QuantizedBytes.value(node, bytes, type));
    }

    /** The byte in the model minus the int8 that holds it. */
    private static int sign(ElementQuantization by) {
        return by.type() == ElementType.UINT8 ? -Byte.MIN_VALUE : 0;
    }

    /** The zero point in the model. */
    private static float inModel(ElementQuantization by) {
        return by.zeroPoint() + sign(by);
    }

    /**
     * An operator of ONNX Runtime that dequantizes, computes and quantizes: X, its scale and zero point, those of the result.
     *
     * @param operator name of the operator in between
     */
    record QLinearFunction(String operator, OnnxImporter importer) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            ElementType type = node.element(0);
            ElementQuantization to = ElementQuantization.readOne(node, 3, 4, type);
            NodeContext shadow = onFloats(node, operator, data(node));
            QuantizedNodes.emit(importer, shadow);
            OnnxValue result = shadow.output(0).orElseThrow(() -> node.failure("it computes nothing", "one output"));
            node.finish(0, QuantizedBytes.value(node, QuantizeLinearImporter.bytes(node, result, to), type));
        }

        /** The first three inputs. */
        static Dequantized data(NodeContext node) {
            return new Dequantized(
                    QuantizedBytes.of(node, node.input(0)), ElementQuantization.readOne(node, 1, 2, node.element(0)));
        }

        /** The node as an operator on the real numbers of its data. */
        static NodeContext onFloats(NodeContext node, String operator, Dequantized data) {
            return node.as(operator, List.of(0))
                    .shadow(Map.of(0, QuantizedBytes.dequantized(node, data)), Optional.empty());
        }
    }

    /**
     * A layer that states its scales: {@code QLinearConv} (x, its scale and zero point, w and its, those of the result, bias), {@code
     * QLinearMatMul} (the same without bias), and {@code QGemm} of ONNX Runtime (with the bias before the result's). The importer of the
     * float layer emits it, see {@link SumForm}. QGemm's alpha is a factor of the first scale, in single precision (core/providers/cpu
     * of ONNX Runtime, contrib_ops/cpu/quantization/quant_gemm.cc).
     *
     * @param layer importer of the float layer
     * @param bias index of the input with the bias
     * @param result index of the input with the result's scale
     */
    record QLinearLayer(OnnxImporter layer, int bias, int result) implements OnnxImporter {
        private static final int WEIGHT = 3;

        /** QLinearConv or QLinearMatMul. */
        static QLinearLayer of(OnnxImporter layer) {
            return new QLinearLayer(layer, 8, 6);
        }

        static QLinearLayer gemm(OnnxImporter gemm) {
            return new QLinearLayer(gemm, 6, 7);
        }

        @Override
        public void emit(NodeContext node) {
            node.require(node.has(result), "its result is not quantized", "a scale of the result");
            ElementQuantization data =
                    ElementQuantization.readOne(node, 1, 2, node.element(0)).scaled(node.real("alpha", 1));
            ElementQuantization weight = ElementQuantization.read(node, 4, 5, 0, node.element(WEIGHT));
            ElementQuantization to = ElementQuantization.readOne(
                    node, result, result + 1, node.element(node.has(result + 1) ? result + 1 : 0));
            Arg weights = QuantizedBytes.of(node, node.input(WEIGHT));
            if (weights instanceof Constant && weight.isOfBytes() && !weight.hasOneZeroPoint()) {
                node.finish(0, QuantizedBytes.value(node, corrected(node, data, weight, to), to.type()));
                return;
            }
            boolean isMatrix = !node.is("QLinearConv") && weight.isPerTensor();
            node.require(
                    (weights instanceof Constant || isMatrix) && weight.isOfBytes() && weight.hasOneZeroPoint(),
                    "its weights are computed, or are " + weight.type().text(),
                    "constant bytes, or a computed matrix with one scale and zero point");
            Optional<SumForm.Bias> words = node.optional(bias).map(b -> new SumForm.Bias.Words(b.arg()));
            SumForm form = new SumForm(
                    new Dequantized(QuantizedBytes.of(node, node.input(0)), data),
                    new Dequantized(weights, weight),
                    words);
            Arg bytes = form.emit(
                            layer,
                            node.as(node.node().operator(), List.of(0, WEIGHT, bias))
                                    .without("alpha"),
                            to,
                            Limits.NONE)
                    .orElseThrow(() -> node.failure("its layer has no integer form", "a layer over images or vectors"));
            node.finish(0, QuantizedBytes.value(node, bytes, to.type()));
        }

        /** The bytes of a layer whose channels have zero points of their own: sums first, which are rescaled as of any layer. */
        private Arg corrected(
                NodeContext node, ElementQuantization data, ElementQuantization weight, ElementQuantization to) {
            String name = node.node().operator();
            node.require(!name.equals("QGemm"), "its weights have several zero points", "one zero point");
            boolean isFilter = name.equals("QLinearConv");
            IntegerProduct product = new IntegerProduct(isFilter ? "Conv" : "MatMul", layer);
            Arg sums = product.sums(node.as(isFilter ? "ConvInteger" : "MatMulInteger", List.of(0, WEIGHT, 2, 5)));
            int rank = node.shape(sums).rank();
            List<Integer> last =
                    new ArrayList<>(IntStream.range(0, rank).boxed().toList());
            List<Integer> back = new ArrayList<>(last);
            if (isFilter) {
                last.add(last.remove(1));
                back.add(1, back.remove(rank - 1));
            }
            Arg channelsLast = node.transpose(sums, last);
            Arg bytes = node.emit(
                    new QnnRequantize(-1, Rounding.ONNX, DType.INT8),
                    node.has(bias) ? node.add(channelsLast, node.arg(bias)) : channelsLast,
                    Constant.reals(
                            "",
                            Shape.of(weight.scales().size()),
                            i -> data.scale() * weight.scales().get(i)),
                    Constant.scalar(0),
                    Constant.scalar(to.scale()),
                    Constant.scalar(to.zeroPoint()));
            return node.transpose(bytes, back);
        }
    }

    /**
     * {@code QLinearAveragePool} and {@code QLinearGlobalAveragePool} of ONNX Runtime (contrib_ops/cpu/quantization): X, its scale and zero
     * point, those of the result. The mean of a whole image is a rescaled sum of integers; that of a smaller window is one of floats, whose
     * zero point is added before rounding.
     *
     * @param operator name of the operator on floats
     */
    record QLinearPool(String operator, OnnxImporter importer) implements OnnxImporter {
        @Override
        public void emit(NodeContext node) {
            node.require(!node.truth("channels_last", false), "its channels are the last dimension", "channels_last 0");
            ElementType type = node.element(0);
            ElementQuantization to = ElementQuantization.readOne(node, 3, 4, type);
            Dequantized data = QLinearFunction.data(node);
            NodeContext mean = QLinearFunction.onFloats(node, operator, data);
            OnnxForm kind = type == ElementType.UINT8 ? OnnxForm.UINT8 : OnnxForm.INT8;
            MeanForm form = new MeanForm(data, to, Limits.NONE, isWhole(node), kind);
            Arg bytes = form.emit(importer, mean)
                    .orElseThrow(() -> node.failure(
                            "its scales are " + data.by().scale() + " and " + to.scale(), SingleFactor.ordinaryText()));
            node.finish(0, QuantizedBytes.value(node, bytes, type));
        }

        /** Whether a window is a whole image. */
        private static boolean isWhole(NodeContext node) {
            Shape shape = node.shape(0);
            Optional<List<Long>> kernel = node.wholes("kernel_shape");
            boolean isPadded = node.wholes("pads").orElse(List.of()).stream().anyMatch(p -> p != 0);
            return kernel.isEmpty()
                    || (!isPadded
                            && kernel.get()
                                    .equals(shape.dims().subList(2, shape.rank()).stream()
                                            .map(Long::valueOf)
                                            .toList()));
        }
    }

    /**
     * {@code QLinearConcat} of ONNX Runtime: scale and zero point of the result, then each part with its own. A part whose
     * scale or zero point differs is dequantized and quantized again, by a table of 256 bytes.
     */
    static void concat(NodeContext node) {
        node.require(
                node.inputs() > FIRST && (node.inputs() - FIRST) % INPUTS_OF_PART == 0,
                "it has " + node.inputs() + " inputs",
                "scale and zero point of the result, then each part with its own");
        ElementType type = node.element(FIRST);
        ElementQuantization to = ElementQuantization.readOne(node, 0, 1, type);
        List<Arg> parts = new ArrayList<>();
        for (int i = FIRST; i < node.inputs(); i += INPUTS_OF_PART) {
            node.require(
                    node.element(i) == type,
                    "it joins " + type.text() + " and " + node.element(i).text(),
                    "one type");
            Dequantized part = new Dequantized(
                    QuantizedBytes.of(node, node.input(i)), ElementQuantization.readOne(node, i + 1, i + 2, type));
            parts.add(QuantizedForms.quantized(node, part, to, Limits.NONE).orElseThrow());
        }
        int axis = node.axis(node.requiredWhole("axis"), node.shape(FIRST).rank());
        Arg joined = node.concatenate(parts, axis);
        node.finish(0, QuantizedBytes.value(node, joined, type));
    }

    /** {@code QLinearSoftmax}, see {@link io.kiln.ir.op.layer.OnnxLayers.OnnxSoftmax}.
     */
    static void softmax(NodeContext node) {
        ElementType type = node.element(0);
        ElementQuantization from = ElementQuantization.readOne(node, 1, 2, type);
        ElementQuantization to = ElementQuantization.readOne(node, 3, 4, type);
        Shape shape = node.shape(0);
        boolean isAlongAxis = node.requiredWhole("opset") >= ALONG_AXIS;
        int axis = node.axis(node.whole("axis", isAlongAxis ? -1 : 1), shape.rank());
        Arg data = QuantizedBytes.of(node, node.input(0));
        Shape rows = isAlongAxis ? shape : flattened(shape, axis);
        int along = isAlongAxis ? axis : 1;
        Arg bytes = softmax(node, node.reshape(data, rows), along, from, to);
        node.finish(0, QuantizedBytes.value(node, node.reshape(bytes, shape), type));
    }

    private static Shape flattened(Shape shape, int axis) {
        long before = 1;
        for (int i = 0; i < axis; i++) {
            before *= shape.dim(i);
        }
        return Shape.of((int) before, (int) (shape.elements() / before));
    }

    private static Arg softmax(NodeContext node, Arg data, int axis, ElementQuantization from, ElementQuantization to) {
        int count = node.shape(data).dim(axis);
        node.require(
                OnnxSoftmaxArithmetic.isFinite(to.scale(), count) && to.scale() <= 1,
                "its result of " + count + " elements has the scale " + to.scale(),
                "at most 1, and no result that is infinite in ONNX Runtime's single precision");
        OnnxForm form = to.type() == ElementType.UINT8 ? OnnxForm.UINT8 : OnnxForm.INT8;
        List<Integer> axes = new ArrayList<>(
                IntStream.range(0, node.shape(data).rank()).boxed().toList());
        Collections.swap(axes, axis, axes.size() - 1);
        Arg bytes = SoftmaxForm.softmax(node, new OnnxSoftmax(form, false), node.transpose(data, axes), from, to);
        return node.transpose(bytes, axes);
    }
}
