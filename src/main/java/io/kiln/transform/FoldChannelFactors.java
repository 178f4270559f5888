// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.TransposedConvolutions.Conv2dTranspose;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Folds products, quotients, sums and differences with a constant per channel into the weights and the bias of the float
 * layer before them: batch normalisation that was exported as {@code x * a + b}. This rounds differently, so it is for
 * models that are being imported, or that are quantised afterwards.
 */
public final class FoldChannelFactors implements Pass {
    @Override
    public String name() {
        return "fold-channel-factors";
    }

    @Override
    public Function run(Function function) {
        Folding folding = new Folding(function.useCounts());
        function.bindings().forEach(folding::add);
        return function.withBindings(List.copyOf(folding.kept.values()))
                .withResults(function.results().stream()
                        .map(r -> r.of(folding.renamed(r.id())))
                        .toList());
    }

    /**
     * A layer with its bias so far.
     *
     * @param layer id of the layer
     * @param bias id of the bias, if there is one
     */
    private record Chain(int layer, Optional<Integer> bias) {
        int end() {
            return bias.orElse(layer);
        }
    }

    /** The state while going through the bindings in order. */
    private static final class Folding {
        private final Map<Integer, Integer> uses;
        private final Map<Integer, Binding> kept = new LinkedHashMap<>();
        private final Map<Integer, Arg.Ref> renamed = new HashMap<>();
        private final Map<Integer, Chain> chains = new HashMap<>();

        Folding(Map<Integer, Integer> uses) {
            this.uses = uses;
        }

        int renamed(int id) {
            return renamed.containsKey(id) ? renamed.get(id).id() : id;
        }

        void add(Binding original) {
            Binding binding = original.reading(renamed);
            if (isFloatLayer(binding)) {
                begin(binding, new Chain(binding.id(), Optional.empty()));
            } else if (binding.op() instanceof BiasAdd && binding.args().get(1) instanceof Constant) {
                Optional<Chain> chain = chain(binding, 0).filter(c -> c.bias.isEmpty());
                kept.put(binding.id(), binding);
                chain.ifPresent(c -> chains.put(binding.id(), new Chain(c.layer, Optional.of(binding.id()))));
            } else if (!folded(binding)) {
                kept.put(binding.id(), binding);
            }
        }

        private void begin(Binding binding, Chain chain) {
            kept.put(binding.id(), binding);
            chains.put(binding.id(), chain);
        }

        private static boolean isFloatLayer(Binding binding) {
            boolean isLayer = binding.op() instanceof Conv2d
                    || binding.op() instanceof Dense
                    || binding.op() instanceof Conv2dTranspose;
            return isLayer && binding.args().get(1) instanceof Constant;
        }

        /** The chain that an argument ends, if nothing else reads it. */
        private Optional<Chain> chain(Binding reader, int position) {
            return reader.args().get(position) instanceof Arg.Ref ref && uses.getOrDefault(ref.id(), 0) == 1
                    ? Optional.ofNullable(chains.get(ref.id()))
                    : Optional.empty();
        }

        private boolean folded(Binding binding) {
            if (!(binding.op() instanceof Binary binary)) {
                return false;
            }
            int position = binding.args().get(0) instanceof Arg.Ref ? 0 : 1;
            boolean isOrdered = binary.kind() == Binary.Kind.SUBTRACT || binary.kind() == Binary.Kind.DIVIDE;
            if (!(binding.args().get(1 - position) instanceof Constant constant) || (isOrdered && position == 1)) {
                return false;
            }
            Optional<Chain> chain = chain(binding, position);
            Optional<float[]> channels = ChannelConstants.of(constant, binding.type());
            if (chain.isEmpty() || channels.isEmpty() || !isSame(chain.get(), binding)) {
                return false;
            }
            switch (binary.kind()) {
                case MULTIPLY -> scale(binding, chain.get(), channels.get());
                case DIVIDE -> scale(binding, chain.get(), ChannelConstants.inverse(channels.get()));
                case ADD -> shift(binding, chain.get(), channels.get());
                case SUBTRACT -> shift(binding, chain.get(), ChannelConstants.negative(channels.get()));
                default -> {
                    return false;
                }
            }
            return true;
        }

        private boolean isSame(Chain chain, Binding binding) {
            return kept.get(chain.end()).type().equals(binding.type());
        }

        private void scale(Binding binding, Chain chain, float[] factors) {
            Binding layer = kept.get(chain.layer);
            LayerChannelOrder order = LayerChannelOrder.of(layer);
            replace(layer, 1, ChannelConstants.map(layer.constant(1), (i, w) -> w * factors[order.channel(i)]));
            chain.bias
                    .map(kept::get)
                    .ifPresent(bias ->
                            replace(bias, 1, ChannelConstants.map(bias.constant(1), (c, b) -> b * factors[c])));
            rename(binding, chain);
        }

        private void shift(Binding binding, Chain chain, float[] terms) {
            if (chain.bias.isPresent()) {
                Binding bias = kept.get(chain.bias.get());
                replace(bias, 1, ChannelConstants.map(bias.constant(1), (c, b) -> b + terms[c]));
                rename(binding, chain);
                return;
            }
            int axis = binding.type().shape().rank() - 1;
            Binding bias =
                    binding.with(new BiasAdd(axis)).with(List.of(new Arg.Ref(chain.layer), Constant.vector(terms)));
            begin(bias, new Chain(chain.layer, Optional.of(bias.id())));
        }

        private void replace(Binding binding, int position, Constant constant) {
            kept.put(binding.id(), binding.with(position, constant));
        }

        /** Readers of a folded binding read the chain instead, which then has their number of readers. */
        private void rename(Binding binding, Chain chain) {
            renamed.put(binding.id(), new Arg.Ref(chain.end()));
            uses.put(chain.end(), uses.getOrDefault(binding.id(), 0));
        }
    }

    /** Float constants with a value for each channel, the last dimension. */
    public static final class ChannelConstants {
        private ChannelConstants() {}

        /** A function of an element and its index. */
        public interface ElementMap {
            float apply(int index, float element);
        }

        /** The value of each channel of a tensor that a constant is broadcast to; empty if it differs within a channel. */
        static Optional<float[]> of(Constant constant, TensorType type) {
            if (!constant.type().dtype().isFloat() || type.shape().rank() == 0) {
                return Optional.empty();
            }
            int channels = type.shape().dim(-1);
            float[] values = new float[channels];
            if (constant.elements() == 1) {
                Arrays.fill(values, constant.real(0));
                return Optional.of(values);
            }
            if (constant.elements() != channels || constant.type().shape().dim(-1) != channels) {
                return Optional.empty();
            }
            for (int i = 0; i < channels; i++) {
                values[i] = constant.real(i);
            }
            return Optional.of(values);
        }

        static float[] inverse(float[] values) {
            float[] inverse = new float[values.length];
            for (int i = 0; i < values.length; i++) {
                inverse[i] = 1 / values[i];
            }
            return inverse;
        }

        static float[] negative(float[] values) {
            float[] negative = new float[values.length];
            for (int i = 0; i < values.length; i++) {
                negative[i] = -values[i];
            }
            return negative;
        }

        /** A constant of the same type with other elements. */
        public static Constant map(Constant constant, ElementMap map) {
            return new Constant(
                    constant.name(),
                    constant.type(),
                    Bytes.ofReals(constant.elements(), i -> map.apply(i, constant.real(i))));
        }
    }

    /**
     * Which output channel an element of a layer's weights belongs to.
     *
     * @param isLast whether channels are the fastest dimension, as in layout HWOI of depthwise convolutions
     * @param channels number of output channels
     * @param perChannel weights of a channel
     */
    public record LayerChannelOrder(boolean isLast, int channels, int perChannel) {
        private static final String CHANNELS_FIRST = "OHWI";

        /** The order of a layer with constant weights. */
        public static LayerChannelOrder of(Binding layer) {
            int channels = layer.type().shape().dim(-1);
            return of((Layer) layer.op(), layer.constant(1).type().shape(), channels);
        }

        public static LayerChannelOrder of(Layer layer, Shape weights, int channels) {
            String layout = layer instanceof Conv2d real
                    ? real.kernelLayout()
                    : layer instanceof QnnConv2d quantized ? quantized.kernelLayout() : CHANNELS_FIRST;
            return new LayerChannelOrder(
                    !layout.equals(CHANNELS_FIRST), channels, Math.toIntExact(weights.elements() / channels));
        }

        /** The output channel of an element. */
        public int channel(int element) {
            return isLast ? element % channels : element / perChannel;
        }

        /**
         * The input channel that an element meets.
         *
         * @param depth last dimension of the weights
         * @param inputs number of input channels
         */
        public int input(int element, int depth, int inputs) {
            if (isLast) {
                return channel(element) / (channels / inputs);
            }
            int groups = inputs / depth;
            return channel(element) / (channels / groups) * depth + element % depth;
        }
    }
}
