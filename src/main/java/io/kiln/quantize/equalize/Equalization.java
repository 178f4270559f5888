// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.equalize;

import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Pool2d;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.LeakyRelu;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.transform.FoldChannelFactors.ChannelConstants;
import io.kiln.transform.FoldChannelFactors.LayerChannelOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A function whose layers hand on channels of similar size.
 *
 * <p>Between two layers of a {@link LayerPair} channel {@code c} is divided by {@code s} in the first layer's weights and bias and
 * multiplied by it in the second's weights. With {@code a} the largest magnitude of the channel over the samples and {@code r}
 * that of the weights that it meets, {@code s = sqrt(a / r)} makes both alike: the value's scale suits all channels, and so does
 * the scale of the second layer's weights. A depthwise second layer has a scale for each channel already, so {@code s = a}. (After
 * Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction, 2019, with measured activations in place
 * of the first layer's weights, which have scales per channel.)
 *
 * <p>Every factor is a power of two. So the function computes the same floats, bit for bit, as long as no number leaves the range
 * of normal floats.
 *
 * @param function the function with other weights and biases
 * @param steps what was done, in execution order; only pairs with a factor other than 1
 * @param scaled ids of the values with other numbers than before
 */
public record Equalization(Function function, List<Step> steps, Set<Integer> scaled) {
    /** Largest exponent of a factor; channels further apart than this contribute nothing. */
    private static final int MOST = 16;

    public Equalization {
        steps = List.copyOf(steps);
        scaled = Set.copyOf(scaled);
    }

    /**
     * What happened between two layers.
     *
     * @param first name of the first
     * @param second name of the second
     * @param spread largest factor of a channel divided by the smallest
     */
    public record Step(String first, String second, double spread) {}

    /**
     * Equalizes a float function.
     *
     * @param magnitudes largest magnitude of each channel, the last dimension, of each value
     */
    public static Equalization of(Function function, Map<Integer, float[]> magnitudes) {
        List<LayerPair> pairs = LayerPair.of(function);
        Map<Integer, Binding> bindings = function.bindingsById();
        List<Step> steps = new ArrayList<>();
        Set<Integer> scaled = new HashSet<>();
        // From the end: the factors of a layer's outputs decide how large the weights are that its inputs meet.
        for (int i = pairs.size() - 1; i >= 0; i--) {
            LayerPair pair = pairs.get(i);
            int[] exponents = exponents(pair, magnitudes.get(pair.data()), bindings.get(pair.second()));
            int spread = spread(exponents);
            if (spread > 0) {
                apply(pair, exponents, bindings);
                scaled.addAll(pair.values());
                steps.add(new Step(
                        bindings.get(pair.bias().orElse(pair.first())).origin().tensor(),
                        bindings.get(pair.second()).origin().tensor(),
                        Math.scalb(1.0, spread)));
            }
        }
        Collections.reverse(steps);
        List<Binding> equalized =
                function.bindings().stream().map(b -> bindings.get(b.id())).toList();
        return new Equalization(function.withBindings(equalized), steps, scaled);
    }

    /**
     * The power of two by which each channel is divided; that with the largest values keeps its size, and so
     * do those that are always 0 or that nothing reads. */
    private static int[] exponents(LayerPair pair, float[] magnitudes, Binding second) {
        int channels = pair.channels();
        float[] values = new float[channels];
        for (int i = 0; i < magnitudes.length; i++) {
            values[i % channels] = Math.max(values[i % channels], magnitudes[i]);
        }
        float[] weights = weights(second, channels);
        boolean isDepthwise = LayerChannelOrder.of(second).isLast();
        int[] exponents = new int[channels];
        float largest = 0;
        int kept = 0;
        for (int c = 0; c < channels; c++) {
            if (values[c] > 0 && weights[c] > 0) {
                exponents[c] = exponent(isDepthwise ? values[c] : Math.sqrt((double) values[c] / weights[c]));
                kept = values[c] > largest ? exponents[c] : kept;
                largest = Math.max(largest, values[c]);
            }
        }
        for (int c = 0; c < channels; c++) {
            boolean isUsed = values[c] > 0 && weights[c] > 0;
            exponents[c] = isUsed ? Math.max(-MOST, Math.min(MOST, exponents[c] - kept)) : 0;
        }
        return exponents;
    }

    /** The exponent of the power of two next to a positive number, in the ratio. */
    private static int exponent(double number) {
        int below = Math.getExponent(number);
        return Math.scalb(number, -below) < Math.sqrt(2) ? below : below + 1;
    }

    /**
     * The largest weight that each channel meets: of a convolution in parts of the largest of the same output channel, because each
     * of these has a scale.
     */
    private static float[] weights(Binding layer, int channels) {
        var weights = layer.constant(1);
        LayerChannelOrder order = LayerChannelOrder.of(layer);
        int depth = weights.type().shape().dim(-1);
        int inputs = LayerPair.inputs(layer);
        float[] largest = new float[order.channels()];
        for (int i = 0; i < weights.elements(); i++) {
            largest[order.channel(i)] = Math.max(largest[order.channel(i)], Math.abs(weights.real(i)));
        }
        float[] met = new float[channels];
        for (int i = 0; i < weights.elements(); i++) {
            float whole = layer.op() instanceof Dense ? 1 : largest[order.channel(i)];
            int channel = order.input(i, depth, inputs) % channels;
            met[channel] = whole == 0 ? met[channel] : Math.max(met[channel], Math.abs(weights.real(i)) / whole);
        }
        return met;
    }

    private static int spread(int[] exponents) {
        int least = 0;
        int most = 0;
        for (int exponent : exponents) {
            least = Math.min(least, exponent);
            most = Math.max(most, exponent);
        }
        return most - least;
    }

    private static void apply(LayerPair pair, int[] exponents, Map<Integer, Binding> bindings) {
        LayerChannelOrder outputs = LayerChannelOrder.of(bindings.get(pair.first()));
        replace(bindings, pair.first(), (i, w) -> Math.scalb(w, -exponents[outputs.channel(i)]));
        pair.bias().ifPresent(bias -> replace(bindings, bias, (c, b) -> Math.scalb(b, -exponents[c])));
        Binding second = bindings.get(pair.second());
        LayerChannelOrder order = LayerChannelOrder.of(second);
        int depth = second.constant(1).type().shape().dim(-1);
        int inputs = LayerPair.inputs(second);
        replace(
                bindings,
                pair.second(),
                (i, w) -> Math.scalb(w, exponents[order.input(i, depth, inputs) % exponents.length]));
    }

    private static void replace(Map<Integer, Binding> bindings, int id, ChannelConstants.ElementMap map) {
        Binding binding = bindings.get(id);
        bindings.put(id, binding.with(1, ChannelConstants.map(binding.constant(1), map)));
    }

    /**
     * Two layers between which a positive factor of a channel has the same effect after the first as before the second: nothing else
     * reads the values in between, and every operator there is positively homogeneous, {@code f(k * x) = k * f(x)} for {@code k > 0}.
     *
     * @param first id of the first layer
     * @param bias id of its bias, if it has one
     * @param second id of the second layer
     * @param values ids of the values from the first layer's to the one that the second reads; their elements lie in the order of the
     *     first layer's channels
     * @param channels output channels of the first layer
     */
    private record LayerPair(int first, Optional<Integer> bias, int second, List<Integer> values, int channels) {
        LayerPair {
            values = List.copyOf(values);
        }

        /** The pairs of a function, in the order of their second layers. */
        static List<LayerPair> of(Function function) {
            Map<Integer, Integer> uses = function.useCounts();
            Map<Integer, LayerPair> open = new HashMap<>();
            List<LayerPair> pairs = new ArrayList<>();
            for (Binding binding : function.bindings()) {
                Optional<LayerPair> before = before(binding, uses, open);
                before.filter(pair -> isSecond(binding, pair))
                        .ifPresent(pair -> pairs.add(
                                new LayerPair(pair.first, pair.bias, binding.id(), pair.values, pair.channels)));
                if (isFirst(binding)) {
                    int channels = binding.type().shape().dim(-1);
                    open.put(
                            binding.id(),
                            new LayerPair(binding.id(), Optional.empty(), -1, List.of(binding.id()), channels));
                } else {
                    before.flatMap(pair -> pair.through(binding)).ifPresent(pair -> open.put(binding.id(), pair));
                }
            }
            return pairs;
        }

        private static Optional<LayerPair> before(
                Binding binding, Map<Integer, Integer> uses, Map<Integer, LayerPair> open) {
            return !binding.args().isEmpty()
                            && binding.args().get(0) instanceof Arg.Ref ref
                            && uses.getOrDefault(ref.id(), 0) == 1
                    ? Optional.ofNullable(open.get(ref.id()))
                    : Optional.empty();
        }

        private static boolean isFirst(Binding binding) {
            return isSupported(binding) || (binding.op() instanceof Conv2dTranspose && hasWeights(binding));
        }

        private static boolean isSecond(Binding binding, LayerPair pair) {
            return isSupported(binding) && inputs(binding) % pair.channels == 0;
        }

        private static boolean isSupported(Binding binding) {
            return (binding.op() instanceof Conv2d || binding.op() instanceof Dense) && hasWeights(binding);
        }

        private static boolean hasWeights(Binding binding) {
            return binding.args().get(1) instanceof Constant;
        }

        /** The number of input channels of a convolution or fully connected layer. */
        static int inputs(Binding layer) {
            int groups = ((Layer) layer.op()).groups();
            int depth = layer.constant(1).type().shape().dim(-1);
            return LayerChannelOrder.of(layer).isLast() ? groups : groups * depth;
        }

        /** The value that the second layer reads. */
        int data() {
            return values.get(values.size() - 1);
        }

        private Optional<LayerPair> through(Binding binding) {
            boolean isBias = binding.op() instanceof BiasAdd
                    && data() == first
                    && binding.args().get(1) instanceof Constant;
            if (!isBias && !keepsFactors(binding)) {
                return Optional.empty();
            }
            List<Integer> more = new ArrayList<>(values);
            more.add(binding.id());
            return Optional.of(new LayerPair(first, isBias ? Optional.of(binding.id()) : bias, second, more, channels));
        }

        /** A ReLU6 does not: its upper end would have to differ from channel to channel. */
        private boolean keepsFactors(Binding binding) {
            if (binding.op() instanceof Clip clip) {
                return clip.min() == 0 && clip.max() == Float.MAX_VALUE;
            }
            if (binding.op() instanceof Pad pad) {
                int last = binding.type().shape().rank() - 1;
                boolean isZero = binding.args().get(1) instanceof Constant value && value.real(0) == 0;
                return isZero && pad.before().get(last) == 0 && pad.after().get(last) == 0;
            }
            if (binding.op() instanceof Reduce reduce) {
                int dims = binding.type().shape().rank()
                        + (reduce.keepDims() ? 0 : reduce.axes().size());
                return reduce.kind() != Reduce.Kind.PROD && !reduce.axes().contains(dims - 1);
            }
            if (binding.op() instanceof Reshape) {
                Shape shape = binding.type().shape();
                return shape.rank() > 0 && shape.dim(-1) % channels == 0;
            }
            return binding.op() instanceof LeakyRelu || binding.op() instanceof Pool2d;
        }
    }
}
