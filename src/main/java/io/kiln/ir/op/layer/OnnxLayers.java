// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.arith.OnnxBilinear;
import io.kiln.ir.arith.OnnxSoftmaxArithmetic;
import io.kiln.ir.arith.SingleFactor;
import io.kiln.ir.arith.SingleLogarithm;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.OnnxForm;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Locale;

/** Layers of bytes in the arithmetic of ONNX Runtime. */
public final class OnnxLayers {
    private OnnxLayers() {}

    /** Checks that multiples of scales can be computed in integers, as those of a {@link SingleFactor}. */
    private static void checkScales(String operator, Arguments args, int... scales) {
        for (int position : scales) {
            args.constant(position)
                    .ifPresent(scale -> args.require(
                            SingleFactor.isOrdinary(scale.real(0)),
                            "a scale of " + operator + " is " + scale.real(0),
                            SingleFactor.ordinaryText()));
        }
    }

    /**
     * Mean of int8 over a window whose bytes are those of ONNX Runtime: a sum of floats, each step rounded to single precision, so that the
     * order counts; the quotient as in {@link io.kiln.ir.arith.OnnxMean}. Padding is left out. NHWC.
     *
     * <p>Arguments: data, its scale and zero point, the result's scale and zero point.
     *
     * @param window geometry
     * @param order in which elements are summed
     * @param form which kernel
     */
    public record OnnxAveragePool(Window window, Order order, OnnxForm form) implements Op {
        public static final Signature<OnnxAveragePool> SIGNATURE = Signature.of(
                        OnnxAveragePool.class, "onnx.avg_pool2d")
                .data("data", operand -> operand.rank(4), DType.INT8)
                .quantization("input")
                .quantization("output")
                .attributes(
                        Attribute.pool(OnnxAveragePool::window),
                        Attribute.choice("order", OnnxAveragePool::order, Order::text, List.of(Order.values())),
                        OnnxForm.attribute(OnnxAveragePool::form),
                        OnnxAveragePool::new)
                // It stores what its steps round: a limit has loops of its own.
                .traits()
                .rules((op, args) -> checkScales(op.name(), args, 1, 3))
                .result(OnnxAveragePool::result);

        @Override
        public Card<OnnxAveragePool> card() {
            return SIGNATURE.of(this);
        }

        /** Lanes of {@link Order#LANES}. */
        public static final int LANES = 4;

        /** In which order the elements of a window are summed. */
        public enum Order {
            /** Row by row. */
            ROWS,
            /** Each column, then their sums (MlasPool2DVectorKernel in core/mlas/lib/pooling.cpp). */
            COLUMNS,
            /** Every fourth element of the first ones, then these four sums in pairs, then the others (MlasPoolGlobalKernel, likewise). */
            LANES,
            /** Groups of four, then one of two, then a single element; each group one after the other (MlasSgemmKernelM1Avx in core/mlas/lib). */
            GROUPS,
            /**
             * Every eighth element from the first one on whose address in a dense tensor is a multiple of 16 bytes, then these eight sums, then the
             * elements before and after them (Eigen's redux of a vector, compiled for SSE). Windows are whole images of one column and one channel.
             */
            ALIGNED;

            /** The spelling in Relay text. */
            public String text() {
                return name().toLowerCase(Locale.ROOT);
            }
        }

        public OnnxAveragePool {
            Check.that(
                    order == Order.ROWS || order == Order.COLUMNS || (!window.isPadded() && window.kernelW() == 1),
                    "windows in lanes and groups have one column and no padding");
        }

        private TensorType result(List<TensorType> args) {
            TensorType result = window.slid(this, args.get(0));
            Shape data = args.get(0).shape();
            Check.that(
                    order != Order.ALIGNED || (result.shape().dim(1) == 1 && data.dim(2) == 1 && data.dim(3) == 1),
                    "windows in order `aligned` are whole images of one column and one channel");
            return result;
        }
    }

    /**
     * An image of int8 between four of whose elements each element of the result lies, NHWC; see {@link OnnxBilinear}.
     *
     * <p>Arguments: data, rows (int32: for each row of the result the upper ones, then the lower ones), their weights (float32, likewise),
     * columns (the left ones, then the right ones), their weights, scale and zero point of the data, those of the result.
     */
    public record OnnxResize2d() implements Op {
        public static final Signature<OnnxResize2d> SIGNATURE = Signature.of(OnnxResize2d.class, "onnx.resize2d")
                .data("data", operand -> operand.rank(4).filled(), DType.INT8)
                .constant("rows", DType.INT32)
                .constant("row weights", DType.FLOAT32)
                .constant("columns", DType.INT32)
                .constant("column weights", DType.FLOAT32)
                .quantization("input")
                .quantization("output")
                .attributes(OnnxResize2d::new)
                .rules(OnnxResize2d::rules)
                .result(OnnxResize2d::result);

        @Override
        public Card<OnnxResize2d> card() {
            return SIGNATURE.of(this);
        }

        /** Position of the rows in the arguments; their weights follow. */
        public static final int ROWS = SIGNATURE.position("rows");

        public static final int COLUMNS = SIGNATURE.position("columns");

        /** Position of the data's scale; its zero point follows. */
        public static final int FROM = SIGNATURE.position("input scale");

        /** Position of the result's scale, likewise. */
        public static final int TO = SIGNATURE.position("output scale");

        /** Products of two smaller weights and a small scale would be subnormal. */
        private static final float LEAST_WEIGHT = (float) Math.scalb(1.0, -40);

        private static int length(String what, TensorType indices, TensorType weights) {
            boolean arePairs = indices.shape().rank() == 2
                    && indices.shape().dim(0) == 2
                    && indices.shape().dim(1) > 0;
            Check.that(
                    arePairs
                            && indices.dtype() == DType.INT32
                            && weights.equals(new TensorType(indices.shape(), DType.FLOAT32)),
                    what + " must be int32 of two for each element, with float32 weights, not " + indices.text()
                            + " and " + weights.text());
            return indices.shape().dim(1);
        }

        private void rules(Arguments args) {
            checkScales(name(), args, FROM, TO);
            args.ratio(FROM, TO, OnnxBilinear.MOST_RATIO);
            Shape data = args.data().shape();
            args.integers(ROWS, "row", row -> row >= 0 && row < data.dim(1), "0 to " + (data.dim(1) - 1));
            args.integers(
                    COLUMNS, "column", column -> column >= 0 && column < data.dim(2), "0 to " + (data.dim(2) - 1));
            for (int weights : List.of(ROWS + 1, COLUMNS + 1)) {
                args.constant(weights).ifPresent(w -> {
                    boolean areFractions = true;
                    for (int i = 0; i < w.elements(); i++) {
                        areFractions &= w.real(i) == 0 || (w.real(i) >= LEAST_WEIGHT && w.real(i) <= 1);
                    }
                    args.require(areFractions, "a weight of " + name() + " is not valid", "0, or 2^-40 to 1");
                });
            }
        }

        private TensorType result(List<TensorType> args) {
            int height = length("rows", args.get(ROWS), args.get(ROWS + 1));
            int width = length("columns", args.get(COLUMNS), args.get(COLUMNS + 1));
            Shape data = args.get(0).shape();
            return new TensorType(Shape.of(data.dim(0), height, width, data.dim(3)), DType.INT8);
        }
    }

    /**
     * Softmax of int8 along the last axis, or its logarithm, whose bytes are those of ONNX Runtime, see {@link OnnxSoftmaxArithmetic}:
     *
     * <ul>
     *   <li>{@link OnnxForm#QDQ}: {@code Softmax} or {@code LogSoftmax} of the real numbers, quantized.
     *   <li>Otherwise {@code QLinearSoftmax}: exponentials are those of a table, summed one after the other, multiplied by {@code floor(1 / scale)} and divided by
     *       the sum, then rounded to even. With {@link OnnxForm#UINT8} the zero point is added and the result saturates; with {@link OnnxForm#INT8}
     *       it wraps around, so that a probability of 1 becomes -128 with the usual zero point of -128 and scale of 1/256, as there.
     * </ul>
     *
     * <p>Arguments: data, its scale and zero point, the result's scale and zero point.
     *
     * @param form which kernel
     * @param isLog whether it is the logarithm, which only {@link OnnxForm#QDQ} has
     */
    public record OnnxSoftmax(OnnxForm form, boolean isLog) implements Op {
        public static final Signature<OnnxSoftmax> SIGNATURE = Signature.of(OnnxSoftmax.class, "onnx.softmax")
                .data("data", operand -> operand.fits((what, type, op, args) -> op.fitData(type.shape())), DType.INT8)
                .quantization("input")
                .quantization("output")
                .says("axis", -1)
                .attributes(
                        OnnxForm.attribute(OnnxSoftmax::form),
                        Attribute.truth("log", OnnxSoftmax::isLog),
                        OnnxSoftmax::new)
                // It stores what its steps round: a limit has loops of its own.
                .traits()
                .rules(OnnxSoftmax::rules)
                .same();

        @Override
        public Card<OnnxSoftmax> card() {
            return SIGNATURE.of(this);
        }

        public OnnxSoftmax {
            Check.that(!isLog || form == OnnxForm.QDQ, "only the form `qdq` of a softmax has a logarithm");
        }

        private void rules(Arguments args) {
            checkScales(name(), args, 1, 3);
            if (form != OnnxForm.QDQ && args.constant(3).isPresent()) {
                float scale = args.constant(3).orElseThrow().real(0);
                int count = args.data().shape().dim(-1);
                args.require(
                        scale <= 1 && OnnxSoftmaxArithmetic.isFinite(scale, count),
                        "the scale of a softmax of " + count + " elements is " + scale,
                        "at most 1, and so large that no intermediate result is infinite");
            }
        }

        private void fitData(Shape data) {
            Check.that(data.rank() > 0, name() + " of a scalar");
            Check.that(
                    !isLog || data.dim(-1) <= SingleLogarithm.MOST,
                    name() + ": the logarithm of more than " + (int) SingleLogarithm.MOST + " elements");
        }
    }
}
