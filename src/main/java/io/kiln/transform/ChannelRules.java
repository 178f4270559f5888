// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.Layer;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Rounding;
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
import io.kiln.transform.ChannelRanges.Range;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

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
        boolean covered =
                LayerSums.tapsInside(window, data.shape(), out).stream().allMatch(inside -> inside.length > 0);
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

    /**
     * Channels of an operator that computes each channel from one of the data's; all other arguments are constant.
     *
     * @param follows whether it does so with these attributes and types
     * @param rule the range of a channel, given the ranges of the data's channels
     */
    private record FollowingChannels(Follows follows, RangeRule rule) implements ChannelRule {
        /** Whether each channel is computed from one of the data's channels. */
        interface Follows {
            boolean holds(Binding binding, int inputs);
        }

        /** The range of each channel, given that of the data's channel from which it is computed. */
        interface RangeRule {
            IntFunction<Range> of(Binding binding, IntFunction<Range> source, TensorType data);
        }

        /** Whether a binding computes integers of up to 32 bits, the type of ranges, from one value and constants. */
        static boolean isTraced(Binding binding, Map<Integer, TensorType> types) {
            return binding.type().dtype().isInteger()
                    && binding.args().get(0) instanceof Arg.Ref data
                    && binding.args().stream().skip(1).allMatch(Constant.class::isInstance)
                    && !binding.type().dtype().isLong()
                    && !types.get(data.id()).dtype().isLong();
        }

        @Override
        public ChannelFlow flow(Binding binding, Map<Integer, TensorType> types) {
            if (!isTraced(binding, types)) {
                return new ChannelFlow.Opaque();
            }
            int inputs = ChannelFlow.channels(types.get(binding.ref(0)).shape());
            return follows.holds(binding, inputs) ? new ChannelFlow.Follows(1, inputs) : new ChannelFlow.Opaque();
        }

        @Override
        public IntFunction<Range> ranges(Binding binding, ChannelRanges known) {
            TensorType type = known.type(binding.ref(0));
            List<Range> data = known.of(binding.ref(0));
            int inputs = ChannelFlow.channels(type.shape());
            return rule.of(binding, c -> data.get(c % inputs), type);
        }
    }

    /** Channels of a quantized sum, which are computed from the operands' channels. */
    private static final class SumChannels implements ChannelRule {
        @Override
        public ChannelFlow flow(Binding binding, Map<Integer, TensorType> types) {
            boolean tried = ((QnnAdd) binding.op()).rounding() == Rounding.TFLITE
                    && binding.type().dtype() == DType.INT8;
            return tried && areWhole(binding, types)
                    ? new ChannelFlow.Follows(
                            1, ChannelFlow.channels(binding.type().shape()))
                    : new ChannelFlow.Opaque();
        }

        /** Operands may be broadcast only if they are constant. */
        private static boolean areWhole(Binding sum, Map<Integer, TensorType> types) {
            boolean same = true;
            for (Arg operand : List.of(sum.args().get(0), sum.args().get(1))) {
                same &= operand instanceof Constant
                        || types.get(((Arg.Ref) operand).id()).equals(sum.type());
            }
            return same;
        }

        @Override
        public IntFunction<Range> ranges(Binding binding, ChannelRanges known) {
            TflAddParameters by = TflAddParameters.of(
                    binding.constant(2).real(0),
                    binding.constant(4).real(0),
                    binding.constant(6).real(0));
            List<Range> lhs = operand(binding, 0, known);
            List<Range> rhs = operand(binding, 1, known);
            long one = 1L << by.leftShift();
            DType dtype = binding.type().dtype();
            return c -> {
                Range left = lhs.get(c).plus(-binding.constant(3).integer(0)).times(one);
                Range right = rhs.get(c).plus(-binding.constant(5).integer(0)).times(one);
                return left.rescaled(by.lhs().multiplier(), by.lhs().shift())
                        .plus(right.rescaled(by.rhs().multiplier(), by.rhs().shift()))
                        .rescaled(by.output().multiplier(), by.output().shift())
                        .plus(binding.constant(7).integer(0))
                        .image(x -> FixedPoint.clamp(x, dtype.min(), dtype.max()));
            };
        }

        private static List<Range> operand(Binding sum, int index, ChannelRanges known) {
            Arg operand = sum.args().get(index);
            if (operand instanceof Arg.Ref ref) {
                return known.of(ref.id());
            }
            Constant constant = (Constant) operand;
            int own = ChannelFlow.channels(constant.type().shape());
            int channels = ChannelFlow.channels(sum.type().shape());
            return IntStream.range(0, channels)
                    .mapToObj(c -> IntStream.iterate(c % own, i -> i < constant.elements(), i -> i + own)
                            .mapToObj(i -> Range.point(constant.integer(i)))
                            .reduce(Range::hull)
                            .orElseThrow())
                    .toList();
        }
    }

    /** Facts about the channels of an operator's result. */
    interface ChannelRule {
        /** How they depend on the arguments' channels. */
        ChannelFlow flow(Binding binding, Map<Integer, TensorType> types);

        /** The range of each channel; called only if the flow is known. */
        IntFunction<Range> ranges(Binding binding, ChannelRanges known);
    }

    /**
     * How an operator's output channels depend on its input channels. The channels of a value are the elements along its
     * last axis.
     */
    sealed interface ChannelFlow {
        /** Every output channel is computed from all input channels of argument 0: convolutions and dense layers. */
        record Mixes() implements ChannelFlow {}

        /**
         * Output channel {@code o} is computed from one channel of each non-constant argument, {@code o / divisor %
         * modulus}: element-wise operators, pools, depthwise convolutions (divisor: outputs per input), and reshapes that
         * only concatenate pixels (modulus: channels of a pixel).
         */
        record Follows(int divisor, int modulus) implements ChannelFlow {
            int source(int output) {
                return output / divisor % modulus;
            }
        }

        /** Unknown; the channels are kept. */
        record Opaque() implements ChannelFlow {}

        /** The flow through a binding, given the types of all values. */
        static ChannelFlow of(Binding binding, Map<Integer, TensorType> types) {
            return ChannelRules.of(binding.op())
                    .map(rule -> rule.flow(binding, types))
                    .orElseGet(Opaque::new);
        }

        /** Number of channels: the last dimension, 1 for a scalar. */
        static int channels(Shape shape) {
            return shape.rank() == 0 ? 1 : shape.dim(-1);
        }
    }
}
