// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Result;
import io.kiln.ir.op.element.Binary;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.Conv2d;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntToDoubleFunction;

/**
 * Folds constant factors and sums of channels into the weights and the bias of the float layer before them, as those
 * of a batch normalization. Products are rounded once more or less than before, so that this is for the import of
 * models, not for a model that is compared with itself.
 */
public final class FoldFactors {
    /**
     * A layer whose result nothing else reads, by places in the list of bindings.
     *
     * @param at place of the layer
     * @param bias place of its bias
     */
    private record Layer(int at, Optional<Integer> bias) {}

    private final List<Binding> bindings = new ArrayList<>();
    private final Map<Integer, Layer> layers = new HashMap<>();
    private final Map<Integer, Arg> same = new HashMap<>();
    private final Map<Integer, Integer> uses;

    private FoldFactors(Function function) {
        this.uses = function.useCounts();
    }

    /** The function with fewer operators. */
    public static Function run(Function function) {
        FoldFactors folding = new FoldFactors(function);
        function.bindings().forEach(folding::add);
        List<Result> results = function.results().stream()
                .map(r -> folding.same.get(r.id()) instanceof Arg.Ref ref
                        ? new Result(ref.id(), r.name(), r.quantization())
                        : r)
                .toList();
        return new Function(
                        function.name(),
                        function.params(),
                        folding.bindings,
                        results,
                        List.of(),
                        function.variables(),
                        function.functions())
                .withIdsInOrder();
    }

    private void add(Binding old) {
        List<Arg> args = old.args().stream()
                .map(a -> a instanceof Arg.Ref ref ? same.getOrDefault(ref.id(), a) : a)
                .toList();
        Binding binding = new Binding(old.id(), old.op(), args, old.type(), old.origin());
        if (binding.op() instanceof Binary binary && args.get(0) instanceof Arg.Ref ref) {
            Layer layer = layers.get(ref.id());
            boolean fits = layer != null && bindings.get(layer.at).type().equals(binding.type());
            Optional<float[]> values = fits ? channels(args.get(1), binding.type()) : Optional.empty();
            if (values.isPresent() && folded(binding, binary.kind(), layer, values.orElseThrow())) {
                return;
            }
        }
        bindings.add(binding);
        boolean isOnly = uses.getOrDefault(binding.id(), 0) == 1;
        boolean isLayer = binding.op() instanceof Conv2d || binding.op() instanceof Dense;
        if (isOnly && isLayer && args.get(1) instanceof Constant) {
            layers.put(binding.id(), new Layer(bindings.size() - 1, Optional.empty()));
        } else if (isOnly && binding.op() instanceof BiasAdd && args.get(1) instanceof Constant) {
            Layer layer = layers.get(binding.ref(0));
            if (layer != null) {
                layers.put(binding.id(), new Layer(layer.at, Optional.of(bindings.size() - 1)));
            }
        }
    }

    /** A value for each channel; empty if it is none, or not constant. */
    private static Optional<float[]> channels(Arg arg, TensorType type) {
        if (!(arg instanceof Constant constant) || !constant.type().dtype().isFloat()) {
            return Optional.empty();
        }
        Shape shape = constant.type().shape();
        int channels = type.shape().dim(-1);
        boolean isScalar = constant.elements() == 1;
        if (shape.rank() > type.shape().rank()
                || !(isScalar || (constant.elements() == channels && shape.dim(-1) == channels))) {
            return Optional.empty();
        }
        float[] values = new float[channels];
        for (int i = 0; i < channels; i++) {
            values[i] = constant.real(isScalar ? 0 : i);
        }
        return Optional.of(values);
    }

    private boolean folded(Binding binding, Binary.Kind kind, Layer layer, float[] values) {
        switch (kind) {
            case ADD -> shift(binding, layer, i -> values[i]);
            case SUBTRACT -> shift(binding, layer, i -> -values[i]);
            case MULTIPLY -> scale(binding, layer, i -> values[i]);
            case DIVIDE -> scale(binding, layer, i -> 1.0 / values[i]);
            default -> {
                return false;
            }
        }
        return true;
    }

    private void shift(Binding binding, Layer layer, IntToDoubleFunction values) {
        if (layer.bias.isPresent()) {
            int at = layer.bias.orElseThrow();
            Constant bias = bindings.get(at).constant(1);
            replace(at, changed(bias, i -> bias.real(i) + values.applyAsDouble(i)));
            forward(binding, layer);
            return;
        }
        float[] bias = new float[binding.type().shape().dim(-1)];
        for (int i = 0; i < bias.length; i++) {
            bias[i] = (float) values.applyAsDouble(i);
        }
        bindings.add(new Binding(
                binding.id(),
                new BiasAdd(-1),
                List.of(binding.args().get(0), Constant.vector(bias)),
                binding.type(),
                binding.origin()));
        if (uses.getOrDefault(binding.id(), 0) == 1) {
            layers.put(binding.id(), new Layer(layer.at, Optional.of(bindings.size() - 1)));
        }
    }

    private void scale(Binding binding, Layer layer, IntToDoubleFunction values) {
        Binding owner = bindings.get(layer.at);
        Constant weight = owner.constant(1);
        int channels = owner.type().shape().dim(-1);
        boolean isChannelLast =
                owner.op() instanceof Conv2d conv && conv.kernelLayout().equals("HWOI");
        int each = weight.elements() / channels;
        replace(
                layer.at,
                changed(weight, i -> weight.real(i) * values.applyAsDouble(isChannelLast ? i % channels : i / each)));
        layer.bias.ifPresent(at -> {
            Constant bias = bindings.get(at).constant(1);
            replace(at, changed(bias, i -> bias.real(i) * values.applyAsDouble(i)));
        });
        forward(binding, layer);
    }

    /** The operator is no longer needed: its result is the layer's. */
    private void forward(Binding binding, Layer layer) {
        int last = bindings.get(layer.bias.orElse(layer.at)).id();
        same.put(binding.id(), new Arg.Ref(last));
        uses.put(last, uses.getOrDefault(binding.id(), 0));
        if (uses.get(last) != 1) {
            layers.remove(last);
        }
    }

    private void replace(int at, Constant constant) {
        Binding old = bindings.get(at);
        List<Arg> args = new ArrayList<>(old.args());
        args.set(1, constant);
        bindings.set(at, new Binding(old.id(), old.op(), args, old.type(), old.origin()));
    }

    private static Constant changed(Constant old, IntToDoubleFunction values) {
        ByteBuffer data = ByteBuffer.allocate(old.data().size()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < old.elements(); i++) {
            data.putFloat((float) values.applyAsDouble(i));
        }
        return new Constant(old.name(), old.type(), Bytes.wrap(data.array()));
    }
}
