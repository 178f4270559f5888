// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.quantized;

import io.kiln.base.DType;
import io.kiln.frontend.onnx.model.ElementType;
import io.kiln.frontend.onnx.operator.ElementQuantization;
import io.kiln.frontend.onnx.operator.NodeContext;
import io.kiln.frontend.onnx.operator.NodeContext.Emitter;
import io.kiln.frontend.onnx.operator.OnnxRegistration.OnnxImporter;
import io.kiln.frontend.onnx.operator.OnnxValue;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Deferred;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Dequantized;
import io.kiln.frontend.onnx.operator.OnnxValue.IntegerForm.Limits;
import io.kiln.frontend.onnx.quantized.QuantizedForms.NoIntegers;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.arith.FloatPrecision;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.OnnxRequantize;
import io.kiln.ir.op.element.QnnRequantize;
import io.kiln.ir.op.element.TflRealRequantize;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TransposedConvolutions.QnnConv2dTranspose;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Convolutions and matrix products: sums of bytes times bytes, or of integers of 16 bits without a zero point times bytes, rescaled. The importer of the float operator runs again, with
 * bytes; {@link IntegerLayer} makes integer operators of what it emits.
 *
 * @param weight bytes, constant or a computed matrix
 * @param bias constant words with the scale of the products, or real numbers, if there is one
 */
record SumForm(Dequantized data, Dequantized weight, Optional<Bias> bias) {
    /** Roundings between a bias's scale and the product of the others, in units of its last place. */
    private static final int ROUNDINGS = 2;

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

            Constant ofChannels(int channels) {
                return Constant.reals("", Shape.of(channels), c -> reals.get(reals.size() == 1 ? 0 : c));
            }
        }
    }

    /** The form of a node; empty if it is another operator or not all of its inputs are quantized. */
    static Optional<IntegerForm> of(OnnxImporter importer, NodeContext node) {
        if (!LAYERS.contains(node.node().operator()) || node.inputs() < 2) {
            return Optional.empty();
        }
        float alpha = node.real("alpha", 1);
        Optional<Dequantized> data = QuantizedForms.bytes(node, 0)
                .or(() -> dequantized(node, 0).filter(SumForm::isSymmetric))
                .filter(d -> alpha > 0);
        Optional<Dequantized> weight = dequantized(node, 1).filter(w -> isWeight(node, w));
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
        Optional<Bias> bias = bias(node, 2, plain, channels, node.real("beta", 1));
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
        return !node.is("ConvTranspose")
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
            case "ConvTranspose" -> node.whole("group", 1) == 1 ? 1 : -1;
            case "Gemm" -> node.truth("transB", false) ? 0 : 1;
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

    /** A layer whose sums are rescaled once its result's quantization is known. */
    record DeferredSum(OnnxImporter importer, NodeContext node, SumForm form) implements Deferred {
        /** {@code MatMul} and the {@code Add} of a constant for each column: PyTorch's export of a fully connected layer. */
        static Optional<DeferredSum> ofSum(NodeContext add) {
            if (!add.is("Add") || add.inputs() != 2) {
                return Optional.empty();
            }
            return withBias(add, 0, 1).or(() -> withBias(add, 1, 0));
        }

        private static Optional<DeferredSum> withBias(NodeContext add, int sums, int bias) {
            Shape shape = add.shape(sums);
            return add.form(sums, DeferredSum.class)
                    .filter(sum -> sum.isMatrixWithoutBias()
                            && shape.rank() >= 2
                            && add.shape(bias).rank() <= shape.rank())
                    .flatMap(sum -> biasReals(add, bias, shape.dim(-1), 1)
                            .map(b -> new DeferredSum(
                                    sum.importer,
                                    sum.node,
                                    new SumForm(sum.form.data(), sum.form.weight(), Optional.of(b)))));
        }

        private boolean isMatrixWithoutBias() {
            return node.is("MatMul") && form.bias().isEmpty() && node.shape(1).rank() >= 2;
        }

        @Override
        public Optional<Arg> quantized(ElementQuantization to, Limits limits) {
            return form.emit(importer, node, to, limits);
        }

        /** Of data of 16 bits. */
        @Override
        public boolean canBeWide() {
            return form.isWide();
        }
    }

    private static Optional<Dequantized> dequantized(NodeContext node, int input) {
        return node.form(input, Dequantized.class);
    }

    /**
     * The bias in an input of a layer; empty if there is none, or if it is not a constant for each channel.
     *
     * @param layer the layer without it
     * @param channels channels of the layer's result
     */
    private static Optional<Bias> bias(NodeContext node, int input, SumForm layer, int channels, float factor) {
        Optional<Dequantized> words = biasWords(node, input)
                .filter(b -> isOfSums(b.by().scaled(factor), layer))
                .filter(b -> isOfChannels(node.shape(input), channels))
                .filter(b -> node.shape(input).rank() > 0 && node.shape(input).elements() == channels);
        return words.isPresent()
                ? words.map(b -> new Bias.Words(b.integers()))
                : biasReals(node, input, channels, factor).map(b -> b);
    }

    /** The real numbers of a bias in an input, likewise. */
    private static Optional<Bias.Reals> biasReals(NodeContext node, int input, int channels, float factor) {
        if (!node.has(input) || !isOfChannels(node.shape(input), channels)) {
            return Optional.empty();
        }
        return biasWords(node, input)
                .map(b -> biasReals((Constant) b.integers(), b.by()))
                .or(() -> node.arg(input) instanceof Constant && node.element(input) == ElementType.FLOAT
                        ? Optional.of(node.reals(input, "bias"))
                        : Optional.empty())
                .map(reals -> reals.stream().map(real -> real * factor).toList())
                .filter(reals -> reals.stream().allMatch(Float::isFinite))
                .map(Bias.Reals::new);
    }

    private static Optional<Dequantized> biasWords(NodeContext node, int input) {
        return dequantized(node, input)
                .filter(b -> b.by().type() == ElementType.INT32 && b.integers() instanceof Constant);
    }

    /** Whether it broadcasts along the last axis only. */
    private static boolean isOfChannels(Shape shape, int channels) {
        boolean isVector = shape.rank() > 0 && shape.dim(-1) == channels && shape.elements() == channels;
        return isVector || shape.elements() == 1;
    }

    private static List<Float> biasReals(Constant words, ElementQuantization by) {
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

    /**
     * Turns the operators of a float layer into those of a quantized one as its importer emits them: the layer's sums are rescaled right
     * after the bias, so that what follows moves bytes.
     */
    record IntegerLayer(NodeContext node, SumForm form, ElementQuantization to, Limits limits) implements Emitter {
        /** Largest step of sums of integers of 16 bits, in steps of the result, to which a bias of real numbers is rounded. */
        private static final double MOST_STEP = 1.0 / 16;

        /** Largest bias that leaves room for sums. */
        private static final double MOST_BIAS = 1L << 40;

        @Override
        public Arg emit(Op op, List<Arg> args, Origin origin) {
            if (op instanceof Conv2d conv) {
                return sums(
                        new QnnConv2d(conv.window(), conv.groups(), conv.channels(), conv.kernelLayout(), sumType()),
                        args);
            }
            if (op instanceof Dense dense) {
                return sums(new QnnDense(dense.units(), sumType()), args);
            }
            if (op instanceof Conv2dTranspose conv) {
                return sums(new QnnConv2dTranspose(conv.window(), conv.channels(), DType.INT32), args);
            }
            if (op instanceof TflBatchMatmul) {
                return rescaled(
                        node.emit(op, args.get(0), args.get(1), zeroPoint(form.data()), zeroPoint(form.weight())));
            }
            if (op instanceof BiasAdd || isBias(op, args)) {
                return rescaled(
                        hasOneZeroPoint()
                                ? node.emit(new BiasAdd(-1), args.get(0), node.cast(args.get(1), sumType()))
                                : node.add(args.get(0), args.get(1)));
            }
            if (op instanceof Pad) {
                return node.emit(op, args.get(0), zeroElement());
            }
            if (isMovement(op)) {
                return node.emit(op, args);
            }
            throw new NoIntegers(op);
        }

        private DType sumType() {
            return form.isWide() ? DType.INT64 : DType.INT32;
        }

        /** Whether it adds the bias to channels, which are last. */
        private boolean isBias(Op op, List<Arg> args) {
            return form.words().isPresent()
                    && op instanceof Binary sum
                    && sum.kind() == Binary.Kind.ADD
                    && node.type(args.get(1))
                            .shape()
                            .equals(Shape.of(node.type(args.get(0)).shape().dim(-1)));
        }

        /** Whether an operator only moves elements, of any type. */
        static boolean isMovement(Op op) {
            return op instanceof Transpose || op instanceof Reshape || op instanceof StridedSlice;
        }

        private boolean hasOneZeroPoint() {
            return form.weight().by().hasOneZeroPoint();
        }

        private Arg sums(Layer op, List<Arg> args) {
            Arg sums = products(op, args.get(0), args.get(1));
            if (!hasOneZeroPoint()) {
                sums = node.subtract(sums, products(op, args.get(0), zeroPoints(op, args.get(1))));
            }
            return form.words().isPresent() ? sums : rescaled(sums);
        }

        private Arg products(Op op, Arg data, Arg weights) {
            return node.emit(
                    op,
                    data,
                    weights,
                    zeroPoint(form.data()),
                    hasOneZeroPoint() ? zeroPoint(form.weight()) : Constant.scalar(0),
                    Constant.scalar(form.data().by().scale()),
                    scales(form.weight().by().scales()));
        }

        /** The zero points of channels in place of all their weights: what the sums with weights have too much. */
        private Arg zeroPoints(Layer op, Arg weights) {
            Shape shape = node.type(weights).shape();
            boolean isDepthwise =
                    op instanceof QnnConv2d conv && !conv.kernelLayout().equals("OHWI");
            int perChannel =
                    (int) shape.elements() / form.weight().by().zeroPoints().size();
            int channels = form.weight().by().zeroPoints().size();
            byte[] zeros = new byte[(int) shape.elements()];
            for (int i = 0; i < zeros.length; i++) {
                int channel = isDepthwise ? i % channels : i / perChannel;
                zeros[i] = form.weight().by().zeroPoints().get(channel).byteValue();
            }
            return node.bytes(zeros, shape);
        }

        /** Exact; ONNX Runtime's sums of floats may lie on the other side of a half. */
        private Arg rescaledShorts(Arg sums) {
            TflRealRequantize op =
                    new TflRealRequantize(to.isOfShorts() ? DType.INT16 : DType.INT8, FloatPrecision.DOUBLE);
            return node.emit(
                    op,
                    form.reals()
                            .map(bias -> node.emit(
                                    new BiasAdd(-1),
                                    sums,
                                    words(op, bias, node.type(sums).shape().dim(-1))))
                            .orElse(sums),
                    Constant.scalar(form.data().by().scale()),
                    scales(form.weight().by().scales()),
                    Constant.scalar(to.scale()),
                    Constant.scalar(0f),
                    Constant.scalar(to.zeroPoint()));
        }

        /** A bias of real numbers on the scale of the sums, whose steps are small beside those of the result. */
        private Constant words(Op op, SumForm.Bias.Reals bias, int channels) {
            Constant reals = bias.ofChannels(channels);
            List<Float> scales = form.weight().by().scales();
            return Constant.integers("", new TensorType(Shape.of(channels), DType.INT64), c -> {
                double step = (double) form.data().by().scale() * scales.get(scales.size() == 1 ? 0 : c);
                double steps = Math.rint(reals.real(c) / step);
                if (step > MOST_STEP * to.scale() || Math.abs(steps) > MOST_BIAS) {
                    throw new NoIntegers(op);
                }
                return (long) steps;
            });
        }

        private Arg rescaled(Arg sums) {
            if (form.isWide()) {
                return QuantizedForms.limited(node, rescaledShorts(sums), limits);
            }
            Arg bytes = form.reals()
                    .map(bias -> withRealBias(sums, bias))
                    .orElseGet(() -> node.emit(
                            new QnnRequantize(-1, Rounding.ONNX, DType.INT8),
                            sums,
                            scales(form.scales()),
                            Constant.scalar(0),
                            Constant.scalar(to.scale()),
                            Constant.scalar(to.zeroPoint())));
            return QuantizedForms.limited(node, bytes, limits);
        }

        private Arg withRealBias(Arg sums, SumForm.Bias.Reals bias) {
            return node.emit(
                    new OnnxRequantize(),
                    sums,
                    Constant.scalar(form.data().by().scale()),
                    scales(form.weight().by().scales()),
                    bias.ofChannels(node.type(sums).shape().dim(-1)),
                    Constant.scalar(to.scale()),
                    Constant.scalar(to.zeroPoint()));
        }

        private static Constant scales(List<Float> scales) {
            Shape shape = scales.size() == 1 ? Shape.scalar() : Shape.of(scales.size());
            return Constant.reals("", shape, scales::get);
        }

        private static Constant zeroPoint(Dequantized operand) {
            return Constant.scalar(operand.by().zeroPoint());
        }

        private Constant zeroElement() {
            if (form.isWide()) {
                return node.number(0, DType.INT16);
            }
            byte zero = (byte) form.data().by().zeroPoint();
            return node.bytes(new byte[] {zero}, Shape.scalar());
        }
    }
}
