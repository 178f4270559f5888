// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.plan;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.ir.op.layer.Svdf;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.layer.TreeEnsemble;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.graph.Node;
import io.kiln.quantize.plan.Plan.PlannedNode;
import io.kiln.quantize.range.ValueRange;
import io.kiln.transform.FoldChannelFactors.LayerChannelOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;

/** Constants in integers. */
public final class QuantizedConstants {
    private QuantizedConstants() {}

    /** A float constant in a quantization. */
    public static Constant of(Constant constant, DType dtype, Quantization quantization) {
        return integers(
                constant, dtype, i -> (double) (constant.real(i) / quantization.scale()) + quantization.zeroPoint());
    }

    /** A constant of the same shape whose elements are rounded, halves away from zero, and limited to the type. */
    static Constant integers(Constant constant, DType dtype, IntToDoubleFunction element) {
        return limited(constant, dtype, dtype.min(), dtype.max(), element);
    }

    static Constant limited(Constant constant, DType dtype, long min, long max, IntToDoubleFunction element) {
        Bytes data = Bytes.ofIntegers(constant.elements(), dtype.bytes(), i -> {
            double value = Math.max((double) min, Math.min((double) max, element.applyAsDouble(i)));
            return Math.max(min, Math.min(max, FixedPoint.roundHalfAway(value)));
        });
        return new Constant(constant.name(), new TensorType(constant.type().shape(), dtype), data);
    }

    /**
     * The constants of a singular value decomposition filter in integers (TensorFlow Lite, operator_property.cc and quantize_model.cc): weights
     * of features int8 with 127 steps, weights of time int16 with 512, so that sums of their products with a state of int16 fit 32 bits.
     *
     * @param features int8, zero point 0
     * @param times int16, zero point 0
     * @param bias int32 with scale {@code time * state} and zero point 0
     * @param scales of the constants and the state
     */
    public record FilterConstants(Constant features, Constant times, Constant bias, Scales scales) {
        /**
         * Scales.
         *
         * @param state of the state, int16, whose zero point is 0
         */
        public record Scales(float features, float times, float state) {}

        private static final int FEATURE_STEPS = 127;
        private static final int TIME_STEPS = 512;

        /** Products of a state and a weight of time whose sum, with the bias, fits 32 bits: 6 bits are left beside those of both. */
        private static final int MOST_PRODUCTS = 63;

        private static final int BIAS = 3;
        private static final float NO_WEIGHTS = 1e-6f;

        /** Whether the filter's constants are known, and its sums of integers fit 32 bits. */
        static boolean isPossible(Svdf op, Node node, int mostInputs) {
            return node.args().subList(1, BIAS + 1).stream().allMatch(Constant.class::isInstance)
                    && op.rank() * node.argTypes().get(2).shape().dim(1) <= MOST_PRODUCTS
                    && node.argTypes().get(1).shape().dim(1) <= mostInputs;
        }

        /** The variable that holds the state. */
        static int state(Node node) {
            return ((Arg.Ref) node.args().get(Svdf.STATE)).id();
        }

        /**
         * Quantizes the constants.
         *
         * @param state range of the state
         */
        static FilterConstants of(Node node, ValueRange state) {
            Constant features = (Constant) node.args().get(1);
            Constant times = (Constant) node.args().get(2);
            Constant bias = (Constant) node.args().get(BIAS);
            float stateScale = scale(state.withZero().magnitude(), Short.MAX_VALUE);
            float mostFeature = largest(features);
            float most = largest(bias);
            float mostTime = Math.max(largest(times), 2 * most / Integer.MAX_VALUE * TIME_STEPS / stateScale);
            Scales scales = new Scales(scale(mostFeature, FEATURE_STEPS), scale(mostTime, TIME_STEPS), stateScale);
            double biasScale = (double) scales.times * stateScale;
            return new FilterConstants(
                    integers(features, DType.INT8, FEATURE_STEPS, mostFeature),
                    integers(times, DType.INT16, TIME_STEPS, mostTime),
                    QuantizedConstants.limited(
                            bias, DType.INT32, -Integer.MAX_VALUE, Integer.MAX_VALUE, i -> bias.real(i) / biasScale),
                    scales);
        }

        private static Constant integers(Constant weights, DType dtype, int steps, float most) {
            float inverse = most == 0 ? 0 : steps / most;
            return QuantizedConstants.limited(weights, dtype, -steps, steps, i -> weights.real(i) * inverse);
        }

        private static float scale(float most, int steps) {
            return most == 0 ? NO_WEIGHTS : Math.max(most / steps, Float.MIN_NORMAL);
        }

        private static float largest(Constant constant) {
            return ValueRange.of(ScaleGroups.floats(constant)).magnitude();
        }
    }

    /**
     * The constants of a layer in integers.
     *
     * @param weights int8, zero point 0
     * @param scales scale of the weights: one, or one per output channel
     * @param bias int32 or int64 with scale {@code input * weight} and zero point 0
     */
    public record LayerConstants(Constant weights, List<Float> scales, Optional<Constant> bias) {
        public LayerConstants {
            scales = List.copyOf(scales);
        }

        private static final int LARGEST = 127;
        private static final float NO_WEIGHTS = 1e-6f;

        /**
         * Quantizes a layer's constants (TensorFlow Lite, quantization_utils.cc): {@code scale = max|w| / 127}, per output
         * channel for convolutions and per tensor for fully connected layers, and {@code q = w * (127 / max|w|)} in single
         * precision. Where a bias would exceed half of int32, also if it is int64, the scale grows until it fits.
         *
         * <p>Rounding the weights shifts the mean of a channel. The bias takes that back: it gets the sum over the weights of {@code (w - scale *
         * q)} times the mean of the data that the weight meets, padding left aside.
         *
         * @param inputScale scale of the data
         * @param means mean of each input channel; empty for no correction
         */
        static LayerConstants of(Node node, float inputScale, Precision precision, Optional<double[]> means) {
            Constant weights = node.weights();
            LayerChannelOrder order = LayerChannelOrder.of(
                    node.layer().orElseThrow(),
                    weights.type().shape(),
                    node.type().shape().dim(-1));
            boolean perTensor = node.op() instanceof Dense;
            float[] most = largest(weights, order, perTensor);
            node.bias().ifPresent(bias -> widen(most, bias, inputScale));
            List<Float> scales = new ArrayList<>();
            float[] inverse = new float[most.length];
            for (int i = 0; i < most.length; i++) {
                scales.add(most[i] == 0 ? NO_WEIGHTS : Math.max(most[i] / LARGEST, Float.MIN_NORMAL));
                inverse[i] = most[i] == 0 ? 0 : LARGEST / most[i];
            }
            Constant integers = QuantizedConstants.limited(
                    weights, DType.INT8, -LARGEST, LARGEST, i -> weights.real(i) * at(inverse, order.channel(i)));
            Optional<float[]> shifts = means.filter(m -> !(node.op() instanceof Conv2dTranspose))
                    .map(m -> new WeightRounding(node, integers, scales, order).shifts(m));
            float[] bias = corrected(node.bias(), shifts, order.channels());
            Constant real = node.bias().orElse(Constant.vector(bias));
            boolean hasBias = node.bias().isPresent() || shifts.isPresent();
            return new LayerConstants(
                    integers,
                    scales,
                    hasBias ? Optional.of(bias(real, bias, scales, inputScale, precision)) : Optional.empty());
        }

        private static float[] largest(Constant weights, LayerChannelOrder order, boolean perTensor) {
            float[] most = new float[perTensor ? 1 : order.channels()];
            for (int i = 0; i < weights.elements(); i++) {
                int at = perTensor ? 0 : order.channel(i);
                most[at] = Math.max(most[at], Math.abs(weights.real(i)));
            }
            return most;
        }

        private static void widen(float[] most, Constant bias, float inputScale) {
            for (int c = 0; c < bias.elements(); c++) {
                float magnitude = Math.abs(bias.real(c));
                int at = most.length == 1 ? 0 : c;
                float scale = most[at] / LARGEST;
                if (magnitude >= 0.5f * inputScale * scale * Integer.MAX_VALUE && magnitude > 0) {
                    most[at] = Math.max(most[at], 2 * magnitude / Integer.MAX_VALUE * LARGEST / inputScale);
                }
            }
        }

        private static float[] corrected(Optional<Constant> bias, Optional<float[]> shifts, int channels) {
            float[] corrected = new float[channels];
            for (int c = 0; c < channels; c++) {
                int channel = c;
                corrected[c] = bias.map(b -> b.real(channel)).orElse(0f)
                        + shifts.map(s -> s[channel]).orElse(0f);
            }
            return corrected;
        }

        private static Constant bias(
                Constant like, float[] bias, List<Float> scales, float inputScale, Precision precision) {
            DType dtype = precision.bias();
            return QuantizedConstants.limited(
                    like,
                    dtype,
                    -Integer.MAX_VALUE,
                    Integer.MAX_VALUE,
                    c -> bias[c] * (1 / ((double) inputScale * scales.get(scales.size() == 1 ? 0 : c))));
        }

        private static float at(float[] values, int channel) {
            return values[values.length == 1 ? 0 : channel];
        }

        /**
         * What rounding does to the weights of a layer.
         *
         * @param node the layer
         * @param integers its weights as integers
         * @param scales their scales, one or one per output channel
         * @param order to which output channel a weight belongs
         */
        private record WeightRounding(Node node, Constant integers, List<Float> scales, LayerChannelOrder order) {
            /**
             * By how much the mean of each output channel is too small.
             *
             * @param means mean of each input channel
             */
            float[] shifts(double[] means) {
                Constant weights = node.weights();
                int depth = weights.type().shape().dim(-1);
                double[] sums = new double[order.channels()];
                for (int i = 0; i < weights.elements(); i++) {
                    int channel = order.channel(i);
                    double scale = scales.get(scales.size() == 1 ? 0 : channel);
                    double lost = weights.real(i) - scale * integers.integer(i);
                    sums[channel] += lost * means[order.input(i, depth, means.length)];
                }
                float[] shifts = new float[sums.length];
                for (int c = 0; c < shifts.length; c++) {
                    shifts[c] = (float) sums[c];
                }
                return shifts;
            }
        }
    }

    /**
     * The constants of a long short-term memory layer in integers (TensorFlow Lite, operator_property.cc and quantize_model.cc): weights of int8
     * with one scale per matrix and 127 steps, biases of int32 with the scale of the products that they are added to, a cell of int16 whose scale
     * is a power of two.
     *
     * @param all weights of the data, of the hidden state, and biases, in the order of the operator's arguments
     * @param cellScale the power of two
     */
    public record RecurrentConstants(List<Scaled> all, float cellScale) {
        /**
         * A constant.
         *
         * @param integers int8 or int32, zero point 0
         */
        public record Scaled(Constant integers, float scale) {}

        private static final int LARGEST = 127;
        private static final float NO_WEIGHTS = 1e-6f;

        /** Bits of an int16 without its sign. */
        private static final int CELL_BITS = 15;

        /** Most integer bits of a cell for which the kernel has a hyperbolic tangent. */
        private static final int MOST_INTEGER_BITS = 6;

        /** Largest magnitude of a cell. */
        static final int MOST_CELL = 1 << MOST_INTEGER_BITS;

        public RecurrentConstants {
            all = List.copyOf(all);
        }

        /** The constants of a node whose constants are known. */
        public static List<Constant> constants(Node node) {
            return node.args().subList(Lstm.INPUT_WEIGHTS, Lstm.HIDDEN).stream()
                    .map(Constant.class::cast)
                    .toList();
        }

        /** Whether weights and biases are constants. */
        public static boolean areKnown(Node node) {
            return node.args().subList(Lstm.INPUT_WEIGHTS, Lstm.HIDDEN).stream().allMatch(Constant.class::isInstance);
        }

        /** Whether the layer's constants are known, and its sums of integers fit 32 bits. */
        static boolean isPossible(Node node, int mostProducts) {
            return areKnown(node)
                    && node.argTypes().get(Lstm.INPUT_WEIGHTS).shape().dim(1) <= mostProducts
                    && node.argTypes().get(Lstm.RECURRENT_WEIGHTS).shape().dim(1) <= mostProducts;
        }

        /** The variable that holds the cell. */
        static int cell(Node node) {
            return ((Arg.Ref) node.args().get(Lstm.CELL)).id();
        }

        /** Whether the kernel's fixed point holds a cell of this range, and its limit is a step or more. */
        static boolean isCell(Lstm op, ValueRange range) {
            return range.withZero().magnitude() <= MOST_CELL
                    && (op.cellClip() == 0 || op.cellClip() >= cellScale(range));
        }

        /** The least power of two with which an int16 holds the range: from 2^-15 to 2^-9. */
        private static float cellScale(ValueRange range) {
            float most = range.withZero().magnitude();
            int bits = 0;
            while (bits < MOST_INTEGER_BITS && most > 1 << bits) {
                bits++;
            }
            return Math.scalb(1f, bits - CELL_BITS);
        }

        /**
         * Quantizes the constants.
         *
         * @param inputScale scale of the data
         * @param cell range of the cell
         */
        static RecurrentConstants of(Node node, float inputScale, ValueRange cell) {
            List<Constant> constants = constants(node);
            List<Scaled> all = new ArrayList<>();
            for (int i = 0; i < 2 * Lstm.GATES; i++) {
                float most = largest(constants.get(i));
                if (i < Lstm.GATES) {
                    float bias = largest(constants.get(2 * Lstm.GATES + i));
                    most = Math.max(most, 2 * bias / Integer.MAX_VALUE * LARGEST / inputScale);
                }
                all.add(weights(constants.get(i), most));
            }
            for (int i = 0; i < Lstm.GATES; i++) {
                all.add(bias(constants.get(2 * Lstm.GATES + i), inputScale * all.get(i).scale));
            }
            return new RecurrentConstants(all, cellScale(cell));
        }

        private static Scaled weights(Constant real, float most) {
            float inverse = most == 0 ? 0 : LARGEST / most;
            Constant integers =
                    QuantizedConstants.limited(real, DType.INT8, -LARGEST, LARGEST, i -> real.real(i) * inverse);
            return new Scaled(integers, most == 0 ? NO_WEIGHTS : Math.max(most / LARGEST, Float.MIN_NORMAL));
        }

        private static Scaled bias(Constant real, float scale) {
            Constant integers = QuantizedConstants.limited(
                    real, DType.INT32, -Integer.MAX_VALUE, Integer.MAX_VALUE, i -> real.real(i) / (double) scale);
            return new Scaled(integers, scale);
        }

        private static float largest(Constant constant) {
            return ValueRange.of(ScaleGroups.floats(constant)).magnitude();
        }
    }

    /**
     * The votes of the leaves of a {@link TreeEnsemble} as integers: {@code weight = scale[target] * vote}, symmetric, with the scale that the
     * largest weight for a target needs. Comparisons stay exact, and a leaf takes a quarter or half of the bytes.
     *
     * @param votes (votes), int8 or int16
     * @param scales (targets), float32
     */
    public record QuantizedVotes(Constant votes, Constant scales) {
        /** Place of the constant of the votes' weights among the arguments. */
        public static final int WEIGHTS = 5;

        private static final int ROOTS = 2;
        private static final int TARGETS = 4;

        /** Whether sums of the votes fit int32. */
        static boolean isPossible(Node node) {
            return node.argTypes().get(ROOTS).shape().dim(0) <= TreeEnsemble.MOST_QUANTIZED
                    && node.argTypes().get(WEIGHTS).dtype().isFloat();
        }

        /** The votes of a planned ensemble, of as many bits as activations in its precision. */
        public static QuantizedVotes of(PlannedNode planned) {
            Constant targets = (Constant) planned.node().args().get(TARGETS);
            Constant weights = (Constant) planned.node().args().get(WEIGHTS);
            DType dtype = planned.precision().activation();
            float[] scales = new float[((TreeEnsemble) planned.node().op()).targets()];
            for (int i = 0; i < weights.elements(); i++) {
                int target = (int) targets.integer(i);
                scales[target] = Math.max(scales[target], Math.abs(weights.real(i)) / dtype.max());
            }
            Constant votes = QuantizedConstants.limited(weights, dtype, -dtype.max(), dtype.max(), i -> {
                float scale = scales[(int) targets.integer(i)];
                return scale == 0 ? 0 : (double) weights.real(i) / scale;
            });
            return new QuantizedVotes(votes, Constant.vector(scales));
        }
    }
}
