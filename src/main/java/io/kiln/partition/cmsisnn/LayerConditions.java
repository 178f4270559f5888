// SPDX-License-Identifier: Apache-2.0
package io.kiln.partition.cmsisnn;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Rounding;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.type.Shape;
import io.kiln.lower.Requantization;
import io.kiln.partition.Condition;
import io.kiln.partition.Match;
import io.kiln.partition.cmsisnn.CmsisNnOptions.CmsisNnVersion;
import java.util.ArrayList;
import java.util.List;

/** Conditions under which CMSIS-NN computes convolutions and fully connected layers. */
final class LayerConditions {
    private static final Condition TYPES = new Condition(
            "input, weight, accumulator and output are neither int8, int8, int32, int8 nor int16, int8, int64, int16",
            match -> {
                Binding root = match.root();
                DType data = match.argument(root, 0).dtype();
                DType sum = data == DType.INT16 ? DType.INT64 : DType.INT32;
                return CmsisNnPatterns.isNarrow(data)
                        && match.argument(root, 1).dtype() == DType.INT8
                        && root.type().dtype() == sum
                        && match.result().dtype() == data;
            });
    private static final Condition CONSTANTS = new Condition(
            "weight or bias is computed",
            match -> match.root().args().get(1) instanceof Constant
                    && match.find(BiasAdd.class)
                            .filter(bias -> !(bias.args().get(1) instanceof Constant))
                            .isEmpty());
    private static final Condition KERNEL_ZERO_POINT =
            new Condition("the kernel's zero point is not 0", match -> areZero(match.root(), Layer.KERNEL_ZERO_POINT));
    private static final Condition WIDE_ZERO_POINT = new Condition(
            "the zero point of an int16 input is not 0",
            match -> match.argument(match.root(), 0).dtype() != DType.INT16
                    || areZero(match.root(), Layer.INPUT_ZERO_POINT));
    private static final Condition ROUNDING = new Condition(
            "the rescaling does not round as TensorFlow Lite does",
            match -> requantization(match).rounding() == Rounding.TFLITE
                    && requantization(match).inputZeroPoint() == 0);
    private static final Condition GROUPS = new Condition(
            "the convolution has groups and is not depthwise",
            match -> layer(match).groups() == 1 || isDepthwise(match));
    private static final Condition DEPTHWISE_BIAS = new Condition(
            "the depthwise convolution has no bias",
            match -> !isDepthwise(match) || match.find(BiasAdd.class).isPresent());
    private static final Condition PADDING = new Condition(
            "the padding at the right and the bottom is neither that at the left and the top nor one more", match -> {
                Window window = layer(match).geometry();
                int right = window.padRight() - window.padLeft();
                int bottom = window.padBottom() - window.padTop();
                return (right == 0 || right == 1) && (bottom == 0 || bottom == 1);
            });
    private static final Condition REACH = new Condition("the padding is as large as the kernel", match -> {
        Window window = layer(match).geometry();
        return Math.max(window.padTop(), window.padBottom()) < window.spanH()
                && Math.max(window.padLeft(), window.padRight()) < window.spanW();
    });
    /** arm_depthwise_conv_3x3_s8 takes the second column of a kernel for one that is never padding. */
    private static final Condition SECOND_COLUMN =
            new Condition("a depthwise kernel of three columns is padded by two", match -> {
                Window window = layer(match).geometry();
                return !isDepthwise(match) || window.kernelW() != 3 || window.padRight() < 2;
            });

    private static final Condition PER_TENSOR = new Condition(
            "the layer has a scale for each channel",
            match -> !requantization(match).isPerChannel());

    private static final List<Condition> COMMON =
            List.of(TYPES, CONSTANTS, KERNEL_ZERO_POINT, WIDE_ZERO_POINT, ROUNDING);

    static final List<Condition> DENSE = and(PER_TENSOR);

    private LayerConditions() {}

    static List<Condition> conv2d(CmsisNnOptions options) {
        Condition row =
                new Condition("the function of a row's convolution for MVE does not pad as the model does", match -> {
                    RowConvolution one = new RowConvolution(
                            layer(match).geometry(),
                            match.argument(match.root(), 0).shape(),
                            match.result().shape().dim(2));
                    return !options.isMve()
                            || isDepthwise(match)
                            || match.result().dtype() != DType.INT8
                            || !one.isOne()
                            || one.isRight(options.version());
                });
        return and(GROUPS, DEPTHWISE_BIAS, PADDING, REACH, SECOND_COLUMN, row);
    }

    private static List<Condition> and(Condition... further) {
        List<Condition> all = new ArrayList<>(COMMON);
        all.addAll(List.of(further));
        return List.copyOf(all);
    }

    static Layer layer(Match match) {
        return (Layer) match.root().op();
    }

    static boolean isDepthwise(Match match) {
        return layer(match).isDepthwise(match.argument(match.root(), 0).shape().dim(-1));
    }

    /** The requantization of a layer's accumulators. */
    static Requantization requantization(Match match) {
        return match.chain().stream()
                .filter(binding -> binding.op().has(Trait.RESCALES))
                .map(Requantization::of)
                .findFirst()
                .orElseThrow();
    }

    private static boolean areZero(Binding binding, int position) {
        List<Long> values = CmsisNnPatterns.integers(binding, position);
        return !values.isEmpty() && values.stream().allMatch(value -> value == 0);
    }

    /**
     * Convolutions of one row, for which CMSIS-NN has a function of its own on cores with MVE, {@code arm_convolve_1_x_n_s8}. It copies the
     * row's ends: for the left one all pixels of a window, for the right one all but one, with padding before and after them. That is right
     * only for some windows; for others it returns an error, or reads pixels that do not exist.
     *
     * @param window of the convolution
     * @param input NHWC
     * @param outputs pixels of a row of the result
     */
    private record RowConvolution(Window window, Shape input, int outputs) {
        /** Pixels of a row and channels that the function takes at once. */
        private static final int LANES = 4;

        /** Whether the function computes this convolution in some version, as int8. */
        boolean isOne() {
            boolean isPointwise = window.kernelW() == 1 && !window.isPadded();
            return input.dim(1) == 1
                    && window.kernelH() == 1
                    && window.dilationW() == 1
                    && !isPointwise
                    && (window.strideW() * input.dim(3) % LANES == 0 || outputs % LANES == 0);
        }

        /** Whether its result is the convolution's. */
        boolean isRight(CmsisNnVersion version) {
            int stride = window.strideW();
            int left = window.padLeft();
            int right = (outputs - 1) * stride + window.kernelW() - input.dim(2) - left;
            if (right != left && right != left + 1) {
                return false;
            }
            int before = windows(left);
            int after = windows(right);
            if (before + after > outputs) {
                return version.hasGeneralRows();
            }
            boolean isLeftRight = left == 0 || input.dim(2) >= window.kernelW();
            boolean isRightRight = right == 0 || (after - 1) * stride == right - 1;
            return isLeftRight && isRightRight && (right == left || right == after);
        }

        /** Windows that reach into so many pixels of padding. */
        private int windows(int pixels) {
            return (pixels + window.strideW() - 1) / window.strideW();
        }
    }
}
