// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Window;
import io.kiln.ir.op.element.Clip;
import io.kiln.ir.op.element.QnnAdd;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.op.layer.AvgPool2d;
import io.kiln.ir.op.layer.BiasAdd;
import io.kiln.ir.op.layer.MaxPool2d;
import io.kiln.ir.op.layer.QnnConv2d;
import io.kiln.ir.op.layer.QnnDense;
import io.kiln.ir.op.movement.Reshape;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;

/** The channel rules by operator; the channels of all other operators are kept. */
final class ChannelRules {
    private static final Map<Class<? extends Op>, ChannelRule> BY_OPERATOR = Map.ofEntries(
            Map.entry(QnnConv2d.class, new LayerChannels()),
            Map.entry(QnnDense.class, new LayerChannels()),
            Map.entry(QnnAdd.class, new SumChannels()),
            following(BiasAdd.class, (op, binding) -> isLast(op.axis(), binding), ChannelRules::biased),
            following(TflRequantize.class, (op, binding) -> isLast(op.axis(), binding), ChannelRules::requantized),
            Map.entry(Reshape.class, new FollowingChannels(ChannelRules::laysSideBySide, (b, source, data) -> source)),
            following(Clip.class, (op, binding) -> true, ChannelRules::limited),
            following(
                    AvgPool2d.class,
                    (op, binding) -> true,
                    (b, op, source, data) -> pool(op.window(), b, source, data)),
            following(
                    MaxPool2d.class,
                    (op, binding) -> true,
                    (b, op, source, data) -> pool(op.window(), b, source, data)));

    private ChannelRules() {}

    /** The rule of an operator; empty if there is none. */
    static Optional<ChannelRule> of(Op op) {
        return Optional.ofNullable(BY_OPERATOR.get(op.getClass()));
    }

    private interface Condition<O extends Op> {
        boolean holds(O op, Binding binding);
    }

    private interface Rule<O extends Op> {
        IntFunction<Range> of(Binding binding, O op, IntFunction<Range> source, TensorType data);
    }

    private static <O extends Op> Map.Entry<Class<? extends Op>, ChannelRule> following(
            Class<O> type, Condition<O> condition, Rule<O> rule) {
        return Map.entry(
                type,
                new FollowingChannels(
                        (binding, inputs) -> condition.holds(type.cast(binding.op()), binding),
                        (binding, source, data) -> rule.of(binding, type.cast(binding.op()), source, data)));
    }

    private static boolean isLast(int axis, Binding binding) {
        int rank = binding.type().shape().rank();
        return rank > 0 && (axis < 0 ? axis + rank : axis) == rank - 1;
    }

    private static boolean laysSideBySide(Binding reshape, int inputs) {
        return ChannelFlow.channels(reshape.type().shape()) % inputs == 0;
    }

    private static IntFunction<Range> biased(Binding binding, BiasAdd op, IntFunction<Range> source, TensorType data) {
        return c -> source.apply(c).plus(binding.constant(1).integer(c));
    }

    private static IntFunction<Range> limited(Binding binding, Clip op, IntFunction<Range> source, TensorType data) {
        return c -> source.apply(c).image(x -> FixedPoint.clamp(x, (long) op.min(), (long) op.max()));
    }

    private static IntFunction<Range> requantized(
            Binding binding, TflRequantize op, IntFunction<Range> source, TensorType data) {
        Constant multiplier = binding.constant(1);
        Constant shift = binding.constant(2);
        DType dtype = op.outDtype();
        return c -> source.apply(c)
                .plus(-op.inputZeroPoint())
                .rescaled((int) multiplier.integer(multiplier.elements() == 1 ? 0 : c), (int)
                        shift.integer(shift.elements() == 1 ? 0 : c))
                .plus(op.outputZeroPoint())
                .image(x -> FixedPoint.clamp(x, dtype.min(), dtype.max()));
    }

    /** Means and maxima of values in a range lie in the range, provided that every window has a tap and sums fit. */
    private static IntFunction<Range> pool(Window window, Binding binding, IntFunction<Range> source, TensorType data) {
        Shape out = binding.type().shape();
        boolean covered = Taps.inside(window, data.shape(), out).stream().allMatch(inside -> inside.length > 0);
        long taps = (long) window.kernelH() * window.kernelW();
        return c -> {
            Range range = source.apply(c);
            boolean fits = new Range(-taps, taps).plus(range.times(taps)).fits(DType.INT32);
            return covered && fits ? range : Range.whole(binding.type().dtype());
        };
    }

    /** Channels of a quantized convolution or fully connected layer. */
    private static final class LayerChannels implements ChannelRule {
        @Override
        public ChannelFlow flow(Binding binding, Map<Integer, TensorType> types) {
            if (!FollowingChannels.isTraced(binding, types)) {
                return new ChannelFlow.Opaque();
            }
            Layer layer = (Layer) binding.op();
            int inputs = ChannelFlow.channels(types.get(binding.ref(0)).shape());
            if (layer.isDepthwise(inputs)) {
                return new ChannelFlow.Follows(
                        ChannelFlow.channels(binding.type().shape()) / inputs, inputs);
            }
            return layer.groups() == 1 ? new ChannelFlow.Mixes() : new ChannelFlow.Opaque();
        }

        @Override
        public IntFunction<Range> ranges(Binding binding, ChannelRanges known) {
            int data = binding.ref(0);
            return new LayerSums(binding, known.type(data)).accumulators(known.of(data));
        }
    }
}
