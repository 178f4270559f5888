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
import io.kiln.ir.op.layer.Conv2dTranspose;
import io.kiln.ir.op.layer.Dense;
import io.kiln.ir.op.movement.Pad;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.op.reduce.Reduce;
import io.kiln.ir.type.Shape;
import io.kiln.transform.LayerChannelOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
record LayerPair(int first, Optional<Integer> bias, int second, List<Integer> values, int channels) {
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
                    .ifPresent(pair ->
                            pairs.add(new LayerPair(pair.first, pair.bias, binding.id(), pair.values, pair.channels)));
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
