// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.transform.ChannelRanges.Range;
import io.kiln.transform.ChannelRules.ChannelFlow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Removes channels that have the same value for every input, and channels that nothing reads, from the layers that
 * compute them, from the operators in between, and from the layers that read them. A removed constant's contribution to
 * an accumulator moves to the bias. Networks trained with strong regularisation have many such channels: their kernels
 * are all zero.
 *
 * <p>A channel is kept if one reader needs it, if it is visible outside, or if padding makes its contribution vary by
 * position; one channel of each value is always kept. Removing channels can leave others unread, so this repeats until
 * nothing changes.
 */
public final class RemoveConstantChannels implements Pass {
    @Override
    public String name() {
        return "remove-constant-channels";
    }

    @Override
    public Function run(Function function) {
        Function current = function;
        while (true) {
            LayerBiases biases = new LayerBiases(current);
            Map<Integer, ConstantInputs> inputs = constantInputs(current, biases);
            KeptChannels kept = new ChannelClasses(current, inputs).kept();
            if (kept.isAll()) {
                return current;
            }
            current = ChannelRemoval.run(current, kept, inputs, biases);
        }
    }

    private static Map<Integer, ConstantInputs> constantInputs(Function function, LayerBiases biases) {
        Map<Integer, TensorType> types = function.types();
        Map<Integer, List<Range>> ranges = ChannelRanges.of(function);
        Map<Integer, ConstantInputs> inputs = new HashMap<>();
        for (Binding binding : function.bindings()) {
            if (ChannelFlow.of(binding, types) instanceof ChannelFlow.Mixes) {
                int data = binding.ref(0);
                inputs.put(
                        binding.id(),
                        new ConstantInputs(
                                new LayerSums(binding, types.get(data)),
                                ranges.get(data),
                                biases.of(binding.id()).map(bias -> bias.constant(1)),
                                biases.canChange(binding)));
            }
        }
        return inputs;
    }

    /**
     * Channels that can only be removed together: a class holds the channels of all values between the layers that compute
     * them and the layers that read them. A class can be removed if no reader needs it and it is not visible outside.
     */
    private static final class ChannelClasses {
        private final Map<Integer, TensorType> types;
        /** Number of a value's channel 0; its other channels follow. */
        private final Map<Integer, Integer> firstById = new LinkedHashMap<>();
        /** A channel of the same class with a smaller number, or the channel itself. */
        private final int[] parent;

        private final BitSet staying = new BitSet();

        /**
         * Finds the classes and which of them are kept.
         *
         * @param inputs for each convolution and dense layer that mixes its input channels, those that it does not need
         */
        ChannelClasses(Function function, Map<Integer, ConstantInputs> inputs) {
            this.types = function.types();
            int count = 0;
            for (var parameter : function.params()) {
                firstById.put(parameter.id(), count);
                count += channels(parameter.id());
            }
            for (var variable : function.variables()) {
                firstById.put(variable.id(), count);
                count += channels(variable.id());
            }
            for (Binding binding : function.bindings()) {
                firstById.put(binding.id(), count);
                count += channels(binding.id());
            }
            this.parent = IntStream.range(0, count).toArray();
            for (Binding binding : function.bindings()) {
                if (ChannelFlow.of(binding, types) instanceof ChannelFlow.Follows flow) {
                    join(binding, flow);
                }
            }
            for (Binding binding : function.bindings()) {
                ChannelFlow flow = ChannelFlow.of(binding, types);
                if (flow instanceof ChannelFlow.Mixes) {
                    keepWhatIsRead(binding, inputs.get(binding.id()));
                } else if (flow instanceof ChannelFlow.Opaque) {
                    keepAround(binding);
                }
            }
            function.params().forEach(p -> keepAll(p.id()));
            function.variables().forEach(v -> keepAll(v.id()));
            function.results().forEach(r -> keepAll(r.id()));
            keepOneEach();
        }

        KeptChannels kept() {
            Map<Integer, int[]> kept = new HashMap<>();
            firstById.forEach((id, first) -> {
                int[] left = IntStream.range(0, channels(id))
                        .filter(c -> stays(first + c))
                        .toArray();
                if (left.length < channels(id)) {
                    kept.put(id, left);
                }
            });
            return new KeptChannels(types, kept);
        }

        private int channels(int id) {
            return ChannelFlow.channels(types.get(id).shape());
        }

        private void join(Binding binding, ChannelFlow.Follows flow) {
            for (int id : binding.reads()) {
                for (int o = 0; o < channels(binding.id()); o++) {
                    int a = find(firstById.get(id) + flow.source(o));
                    int b = find(firstById.get(binding.id()) + o);
                    parent[Math.max(a, b)] = Math.min(a, b);
                }
            }
        }

        private int find(int channel) {
            int root = channel;
            while (parent[root] != root) {
                parent[root] = parent[parent[root]];
                root = parent[root];
            }
            return root;
        }

        private boolean stays(int channel) {
            return staying.get(find(channel));
        }

        private void keepWhatIsRead(Binding layer, ConstantInputs inputs) {
            int id = layer.ref(0);
            for (int c = 0; c < channels(id); c++) {
                if (!inputs.canGo(c)) {
                    staying.set(find(firstById.get(id) + c));
                }
            }
        }

        /** Keeps the channels read and computed by an operator without a rule. */
        private void keepAround(Binding binding) {
            keepAll(binding.id());
            binding.reads().forEach(this::keepAll);
        }

        private void keepAll(int id) {
            for (int c = 0; c < channels(id); c++) {
                staying.set(find(firstById.get(id) + c));
            }
        }

        /** Keeps at least one channel of each value. */
        private void keepOneEach() {
            firstById.forEach((id, first) -> {
                if (channels(id) > 0
                        && IntStream.range(first, first + channels(id)).noneMatch(this::stays)) {
                    staying.set(find(first));
                }
            });
        }
    }

    /** Rewrites a function so that its values have only the kept channels; ids stay unchanged. */
    private static final class ChannelRemoval {
        private final KeptChannels kept;
        private final Map<Integer, ConstantInputs> inputs;
        private final LayerBiases biases;
        private final GraphBuilder graph;

        /**
         * Sums that removed constants contributed to a layer's accumulators, by the id of the {@code nn.bias_add} after the
         * layer.
         */
        private final Map<Integer, long[]> additions = new HashMap<>();

        private ChannelRemoval(
                Function function, KeptChannels kept, Map<Integer, ConstantInputs> inputs, LayerBiases biases) {
            this.kept = kept;
            this.inputs = inputs;
            this.biases = biases;
            this.graph = new GraphBuilder(function);
        }

        /**
         * The function without the removed channels.
         *
         * @param kept the kept channels
         * @param inputs inputs not needed by the layers that mix channels
         * @param biases the layers' biases
         */
        static Function run(
                Function function, KeptChannels kept, Map<Integer, ConstantInputs> inputs, LayerBiases biases) {
            ChannelRemoval removal = new ChannelRemoval(function, kept, inputs, biases);
            function.bindings().forEach(removal::rewrite);
            return function.withBindings(removal.graph.bindings());
        }

        private void rewrite(Binding binding) {
            Op op = binding.op();
            if (op instanceof QnnConv2d || op instanceof QnnDense) {
                SmallerLayer layer = new SmallerLayer(binding, kept);
                List<Arg> args = new ArrayList<>(List.of(binding.args().get(0)));
                args.addAll(layer.parameters());
                add(binding, layer.op(), args);
                if (inputs.containsKey(binding.id())) {
                    moveConstants(binding, inputs.get(binding.id()));
                }
            } else if (additions.containsKey(binding.id())) {
                Constant bias = sum(Optional.of(binding.constant(1)), binding.id(), additions.get(binding.id()));
                add(binding, op, List.of(binding.args().get(0), bias));
            } else {
                Op same =
                        op.has(Trait.VIEW) ? new Reshape(kept.type(binding.id()).shape()) : op;
                add(binding, same, arguments(binding));
            }
        }

        private void add(Binding old, Op op, List<Arg> args) {
            graph.define(old.id(), op, args, old.origin());
        }

        private List<Arg> arguments(Binding binding) {
            List<Arg> args = new ArrayList<>();
            for (Arg arg : binding.args()) {
                boolean shrinks = arg instanceof Constant && !kept.isAll(binding.id());
                args.add(
                        shrinks
                                ? gatheredChannels((Constant) arg, kept.before(binding.id()), kept.of(binding.id()))
                                : arg);
            }
            return args;
        }

        /** Adds the contribution of a layer's removed inputs to its bias, which is created if there is none. */
        private void moveConstants(Binding layer, ConstantInputs constants) {
            int[] removed = kept.removed(layer.ref(0));
            long[] added = new long[kept.before(layer.id())];
            Arrays.setAll(
                    added,
                    o -> Arrays.stream(removed)
                            .mapToLong(c -> constants.adds(o, c))
                            .sum());
            if (Arrays.stream(added).allMatch(a -> a == 0)) {
                return;
            }
            Optional<Binding> bias = biases.of(layer.id());
            if (bias.isPresent()) {
                additions.put(bias.orElseThrow().id(), added);
                return;
            }
            Constant sum = sum(Optional.empty(), layer.id(), added);
            graph.replace(
                    layer.id(), graph.call(new BiasAdd(-1), List.of(new Arg.Ref(layer.id()), sum), layer.origin()));
        }

        /** The bias with additions, for the kept channels; {@link ConstantInputs} guarantees that it fits into 32 bits. */
        private Constant sum(Optional<Constant> bias, int id, long[] added) {
            int[] values = Arrays.stream(kept.of(id))
                    .map(o -> Math.toIntExact(bias.map(b -> b.integer(o)).orElse(0L) + added[o]))
                    .toArray();
            Constant sum = Constant.vector(values);
            return new Constant(bias.map(Constant::name).orElse(""), sum.type(), sum.data());
        }

        /** A quantized convolution or dense layer with the channels that are kept. */
        private static final class SmallerLayer {
            private final Binding layer;
            private final int inputsBefore;
            private final int outputsBefore;
            private final int[] inputs;
            private final int[] outputs;

            SmallerLayer(Binding layer, KeptChannels kept) {
                this.layer = layer;
                this.inputsBefore = kept.before(layer.ref(0));
                this.outputsBefore = kept.before(layer.id());
                this.inputs = kept.of(layer.ref(0));
                this.outputs = kept.of(layer.id());
            }

            /** A depthwise convolution of one channel is an ordinary one. */
            Op op() {
                if (!(layer.op() instanceof QnnConv2d conv)) {
                    return new QnnDense(outputs.length);
                }
                if (!isDepthwise()) {
                    return new QnnConv2d(conv.window(), conv.groups(), outputs.length, conv.kernelLayout());
                }
                String layout = inputs.length == 1 ? "OHWI" : conv.kernelLayout();
                return new QnnConv2d(conv.window(), inputs.length, outputs.length, layout);
            }

            /** The arguments after the data. */
            List<Arg> parameters() {
                List<Arg> parameters =
                        new ArrayList<>(layer.args().subList(1, layer.args().size()));
                parameters.set(0, weight(layer.constant(1)));
                parameters.set(4, gatheredChannels(layer.constant(5), outputsBefore, outputs));
                return parameters;
            }

            private boolean isDepthwise() {
                return layer.op() instanceof QnnConv2d conv && conv.isDepthwise(inputsBefore);
            }

            private Constant weight(Constant weight) {
                if (isDepthwise()) {
                    Constant left = gathered(weight, 2, inputs);
                    return inputs.length == 1 ? outputsFirst(left) : left;
                }
                boolean grouped = layer.op() instanceof QnnConv2d conv && conv.groups() > 1;
                return grouped
                        ? weight
                        : gathered(
                                gathered(weight, 0, outputs),
                                weight.type().shape().rank() - 1,
                                inputs);
            }

            /** A kernel of one input channel, from HWIO to OHWI. */
            private static Constant outputsFirst(Constant weight) {
                Shape shape = weight.type().shape();
                int taps = shape.dim(0) * shape.dim(1);
                int outputs = shape.dim(3);
                byte[] transposed = new byte[taps * outputs];
                for (int i = 0; i < transposed.length; i++) {
                    transposed[i] = weight.data().get(i % taps * outputs + i / taps);
                }
                Shape ohwi = Shape.of(outputs, shape.dim(0), shape.dim(1), 1);
                return new Constant(
                        weight.name(), new TensorType(ohwi, weight.type().dtype()), Bytes.wrap(transposed));
            }
        }
    }

    /** The kept channels of a function's values. */
    private static final class KeptChannels {
        private final Map<Integer, TensorType> types;
        private final Map<Integer, int[]> byId;

        /**
         * A selection.
         *
         * @param types of all values
         * @param byId ascending indices of kept channels, for each value that loses channels
         */
        KeptChannels(Map<Integer, TensorType> types, Map<Integer, int[]> byId) {
            this.types = types;
            this.byId = byId;
        }

        /** Whether no value loses channels. */
        boolean isAll() {
            return byId.isEmpty();
        }

        boolean isAll(int id) {
            return !byId.containsKey(id);
        }

        /** Indices of a value's kept channels. */
        int[] of(int id) {
            return isAll(id) ? IntStream.range(0, before(id)).toArray() : byId.get(id);
        }

        int[] removed(int id) {
            int[] left = of(id);
            return IntStream.range(0, before(id))
                    .filter(c -> Arrays.binarySearch(left, c) < 0)
                    .toArray();
        }

        /** Number of channels before the removal. */
        int before(int id) {
            return ChannelFlow.channels(types.get(id).shape());
        }

        /** Type with the kept channels. */
        TensorType type(int id) {
            TensorType type = types.get(id);
            Shape shape = type.shape();
            return isAll(id) ? type : new TensorType(shape.with(-1, of(id).length), type.dtype());
        }
    }

    /** The places where constants can be added to a layer's accumulators. */
    private static final class LayerBiases {
        private final Map<Integer, Binding> biasByLayer = new HashMap<>();
        private final Set<Integer> results = new HashSet<>();

        LayerBiases(Function function) {
            function.results().stream().map(Result::id).forEach(results::add);
            Map<Integer, Integer> uses = function.useCounts();
            Map<Integer, TensorType> types = function.types();
            for (Binding binding : function.bindings()) {
                boolean perChannel = binding.op() instanceof BiasAdd
                        && ChannelFlow.of(binding, types) instanceof ChannelFlow.Follows;
                if (perChannel && uses.get(binding.ref(0)) == 1) {
                    biasByLayer.put(binding.ref(0), binding);
                }
            }
        }

        /** The {@code nn.bias_add} that is the only reader of a layer's accumulators. */
        Optional<Binding> of(int layer) {
            return Optional.ofNullable(biasByLayer.get(layer));
        }

        /** Whether there is a bias to change, or one can be added after the layer: not if its accumulators are a result. */
        boolean canChange(Binding layer) {
            return layer.type().dtype() == DType.INT32 && !results.contains(layer.id());
        }
    }

    /**
     * The input channels that a layer does not need: those that it ignores, and constant ones that add the same to an
     * accumulator at every position, with any padding; their contribution moves to the bias.
     */
    private static final class ConstantInputs {
        private final LayerSums layer;
        private final List<Range> data;
        private final BitSet removable = new BitSet();

        /**
         * Finds these channels.
         *
         * @param data range of each input channel
         * @param bias the bias added to the accumulators, if there is one
         * @param biasCanChange whether constants can be added to the bias
         */
        ConstantInputs(LayerSums layer, List<Range> data, Optional<Constant> bias, boolean biasCanChange) {
            this.layer = layer;
            this.data = data;
            BitSet adding = new BitSet();
            for (int c = 0; c < data.size(); c++) {
                boolean constant = data.get(c).isPoint();
                boolean isZero = constant && data.get(c).low() == layer.zeroPoint();
                if (isZero || layer.ignores(c)) {
                    removable.set(c);
                } else if (constant && isUniform(c)) {
                    adding.set(c);
                }
            }
            if (biasCanChange && staysWithin32Bits(adding, bias)) {
                removable.or(adding);
            }
        }

        boolean canGo(int c) {
            return removable.get(c);
        }

        /** The contribution of a removable channel to an output channel's accumulator. */
        long adds(int output, int c) {
            Range value = data.get(c);
            return value.isPoint() ? (value.low() - layer.zeroPoint()) * layer.weightSum(output, c, 0) : 0;
        }

        private boolean isUniform(int c) {
            for (int o = 0; o < layer.outputs(); o++) {
                long anywhere = layer.weightSum(o, c, 0);
                for (int border = 1; border < layer.borders(); border++) {
                    if (layer.weightSum(o, c, border) != anywhere) {
                        return false;
                    }
                }
            }
            return true;
        }

        /** Whether the bias stays within 32 bits for any subset of the channels. */
        private boolean staysWithin32Bits(BitSet channels, Optional<Constant> bias) {
            for (int o = 0; o < layer.outputs(); o++) {
                int output = o;
                long before = bias.map(b -> Math.abs(b.integer(output))).orElse(0L);
                long magnitude = channels.stream()
                        .mapToLong(c -> Math.abs(adds(output, c)))
                        .sum();
                if (before + magnitude > DType.INT32.max()) {
                    return false;
                }
            }
            return true;
        }
    }

    /** The slices at the given indices, in their order. */
    private static Constant gathered(Constant constant, int axis, int[] indices) {
        Shape shape = constant.type().shape();
        int inner = constant.type().dtype().bytes();
        for (int i = axis + 1; i < shape.rank(); i++) {
            inner *= shape.dim(i);
        }
        int slices = shape.dim(axis);
        int outer = constant.data().size() / (inner * slices);
        byte[] from = constant.data().toArray();
        byte[] to = new byte[outer * indices.length * inner];
        for (int o = 0; o < outer; o++) {
            for (int i = 0; i < indices.length; i++) {
                System.arraycopy(from, (o * slices + indices[i]) * inner, to, (o * indices.length + i) * inner, inner);
            }
        }
        TensorType type =
                new TensorType(shape.with(axis, indices.length), constant.type().dtype());
        return new Constant(constant.name(), type, Bytes.wrap(to));
    }

    /** A constant that has one element for all channels or one per channel along its last axis. */
    private static Constant gatheredChannels(Constant constant, int channels, int[] kept) {
        int rank = constant.type().shape().rank();
        boolean shared = rank == 0 || constant.type().shape().dim(-1) < channels;
        return shared ? constant : gathered(constant, rank - 1, kept);
    }
}
