// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.element.Unary;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.Resize2d;
import io.kiln.ir.op.layer.Softmax;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TflBatchMatmul;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.movement.BroadcastTo;
import io.kiln.ir.op.movement.Concatenate;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.movement.StridedSlice;
import io.kiln.ir.op.movement.Take;
import io.kiln.ir.op.movement.Transpose;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.QuantizedConstants.FilterConstants;
import io.kiln.quantize.plan.QuantizedConstants.RecurrentConstants;
import java.util.Optional;

/**
 * The operators with integer arithmetic in TensorFlow Lite's quantization specification. All others stay float between
 * a dequantization and a quantization.
 */
final class IntegerForms {
    private static final float BYTE_PROBABILITY = 1f / 256;
    private static final float WIDE_UNIT = 1f / 32768;
    private static final float BYTE_UNIT = 1f / 128;

    /** Largest number of products of two int8 values, less their zero points, whose sum fits 32 bits. */
    private static final int MAX_PRODUCTS = Integer.MAX_VALUE / (255 * 255);

    private IntegerForms() {}

    /** The integer form of a node; empty if it has none in this precision. */
    static Optional<Form> of(Node node, Precision precision) {
        boolean isFloat = node.type().dtype().isFloat();
        if (precision == Precision.FLOAT || !isFloat || node.type().shape().elements() == 0) {
            return Optional.empty();
        }
        if (node.layer().isPresent()) {
            return isLayer(node) ? Optional.of(Form.FREE) : Optional.empty();
        }
        return precision == Precision.INT8 ? byteForm(node) : wideForm(node);
    }

    /** TensorFlow Lite's transposed convolutions state their output's shape, from which their padding follows. */
    private static boolean isLayer(Node node) {
        return node.op() instanceof Conv2d
                || node.op() instanceof Dense
                || (node.op() instanceof Conv2dTranspose transpose
                        && transposedScheme(transpose, node).isPresent());
    }

    /** The padding scheme of a transposed convolution, whose output is seen as the data of an ordinary one. */
    static Optional<PaddingScheme> transposedScheme(Conv2dTranspose op, Node node) {
        return PaddingScheme.of(op.window().window(), node.type().shape())
                .filter(scheme ->
                        op.window().outputPaddingH() == 0 && op.window().outputPaddingW() == 0);
    }

    private static Optional<Form> byteForm(Node node) {
        if (node.op() instanceof Softmax) {
            return Optional.of(Form.fixed(BYTE_PROBABILITY, Byte.MIN_VALUE));
        }
        if (node.op() instanceof Unary unary) {
            return switch (unary.kind()) {
                case SIGMOID -> Optional.of(Form.fixed(BYTE_PROBABILITY, Byte.MIN_VALUE));
                case TANH -> Optional.of(Form.fixed(BYTE_UNIT, 0));
                case HARD_SWISH, ELU -> Optional.of(Form.FREE);
                default -> Optional.empty();
            };
        }
        if (node.op() instanceof Binary binary
                && (binary.kind() == Binary.Kind.PRELU || binary.kind() == Binary.Kind.SQUARED_DIFFERENCE)) {
            return Optional.of(Form.FREE);
        }
        if (node.op() instanceof Svdf filter) {
            return FilterConstants.isPossible(filter, node, MAX_PRODUCTS) ? Optional.of(Form.FREE) : Optional.empty();
        }
        if (node.op() instanceof Lstm) {
            return RecurrentConstants.isPossible(node, MAX_PRODUCTS) ? Optional.of(Form.FREE) : Optional.empty();
        }
        return node.op() instanceof Resize2d ? Optional.of(Form.SAME) : commonForm(node);
    }

    private static Optional<Form> wideForm(Node node) {
        if (node.op() instanceof Softmax) {
            return Optional.of(Form.fixed(WIDE_UNIT, 0));
        }
        if (node.op() instanceof Unary unary) {
            return unary.kind() == Unary.Kind.SIGMOID || unary.kind() == Unary.Kind.TANH
                    ? Optional.of(Form.fixed(WIDE_UNIT, 0))
                    : Optional.empty();
        }
        return commonForm(node);
    }

    private static Optional<Form> commonForm(Node node) {
        if (node.op() instanceof Binary binary) {
            return switch (binary.kind()) {
                case ADD, SUBTRACT, MULTIPLY -> Optional.of(Form.FREE);
                case MAXIMUM, MINIMUM, MAXIMUM_OR_NAN, MINIMUM_OR_NAN -> Optional.of(Form.SAME);
                default -> Optional.empty();
            };
        }
        if (node.op() instanceof LeakyRelu || node.op() instanceof Clip || isProduct(node)) {
            return Optional.of(Form.FREE);
        }
        if (node.op() instanceof Reduce reduce) {
            return switch (reduce.kind()) {
                case MEAN, SUM -> Optional.of(Form.FREE);
                case MAX, MIN -> Optional.of(Form.SAME);
                case PROD -> Optional.empty();
            };
        }
        return isMovement(node) ? Optional.of(Form.SAME) : Optional.empty();
    }

    /** The sums of int8 must fit 32 bits. */
    private static boolean isProduct(Node node) {
        return node.op() instanceof TflBatchMatmul product
                && product.depth(node.argTypes().get(0).shape()) <= MAX_PRODUCTS;
    }

    private static boolean isMovement(Node node) {
        return (node.op() instanceof AvgPool2d pool && isPool(pool.window(), node, true))
                || (node.op() instanceof MaxPool2d maximum && isPool(maximum.window(), node, false))
                || node.op() instanceof Reshape
                || node.op() instanceof Transpose
                || node.op() instanceof StridedSlice
                || node.op() instanceof Concatenate
                || (node.op() instanceof Take && node.hasOnlyExistingIndices())
                || node.op() instanceof BroadcastTo
                || (node.op() instanceof Pad && isZero(node.args().get(1)));
    }

    /** Padding of a maximum can be an operator of its own. */
    private static boolean isPool(Window window, Node node, boolean needsScheme) {
        boolean isDilated = window.dilationH() > 1 || window.dilationW() > 1;
        return !isDilated
                && (!needsScheme
                        || PaddingScheme.of(window, node.argTypes().get(0).shape())
                                .isPresent());
    }

    private static boolean isZero(Arg value) {
        return value instanceof Constant constant && constant.real(0) == 0;
    }

    /**
     * How an operator quantizes its result.
     *
     * @param kind what decides the scale
     * @param fixed the quantization that the operator's arithmetic prescribes
     */
    record Form(Kind kind, Optional<Quantization> fixed) {
        /** What decides the scale of a result. */
        enum Kind {
            /** The range of the result. */
            FREE,
            /** The data, whose scale the result shares. */
            SAME,
            /** The operator itself. */
            FIXED
        }

        static final Form FREE = new Form(Kind.FREE, Optional.empty());
        static final Form SAME = new Form(Kind.SAME, Optional.empty());

        static Form fixed(float scale, int zeroPoint) {
            return new Form(Kind.FIXED, Optional.of(new Quantization(scale, zeroPoint)));
        }
    }
}
