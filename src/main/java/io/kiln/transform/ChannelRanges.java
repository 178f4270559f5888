// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.arith.TflAddParameters;
import io.kiln.ir.op.AvgPool2d;
import io.kiln.ir.op.BiasAdd;
import io.kiln.ir.op.Clip;
import io.kiln.ir.op.MaxPool2d;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.QnnAdd;
import io.kiln.ir.op.QnnConv2d;
import io.kiln.ir.op.QnnDense;
import io.kiln.ir.op.TflRequantize;
import io.kiln.ir.op.Window;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * What each channel of each integer value lies between, over all inputs and positions, in the reference interpreter's
 * arithmetic. A channel whose range is one point is constant. Every rule is monotone in its arguments, so that the ends of a
 * range decide about all between; where 32 bits could wrap around, all of the type is assumed.
 */
final class ChannelRanges {
    private final Map<Integer, TensorType> types;
    private final Map<Integer, List<Range>> byId = new HashMap<>();

    private ChannelRanges(Function function) {
        this.types = function.types();
        function.params().stream()
                .filter(p -> p.type().dtype().isInteger())
                .forEach(p -> byId.put(p.id(), whole(p.type())));
        function.variables().stream()
                .filter(v -> v.type().dtype().isInteger())
                .forEach(v -> byId.put(v.id(), whole(v.type())));
        for (Binding binding : function.bindings()) {
            if (binding.type().dtype().isInteger()) {
                byId.put(binding.id(), of(binding));
            }
        }
    }

    /** Ranges by the ids of parameters and bindings, one per channel; values that are not integers are left out. */
    static Map<Integer, List<Range>> of(Function function) {
        return new ChannelRanges(function).byId;
    }

    private static List<Range> whole(TensorType type) {
        return Collections.nCopies(ChannelFlow.channels(type.shape()), Range.whole(type.dtype()));
    }

    private List<Range> of(Binding binding) {
        boolean isLayer = binding.op() instanceof QnnConv2d || binding.op() instanceof QnnDense;
        if (ChannelFlow.of(binding, types) instanceof ChannelFlow.Opaque) {
            return whole(binding.type());
        }
        IntFunction<Range> rule = isLayer ? layer(binding) : follower(binding);
        return IntStream.range(0, ChannelFlow.channels(binding.type().shape()))
                .mapToObj(rule)
                .map(range -> range.orWhole(binding.type().dtype()))
                .toList();
    }

    private IntFunction<Range> layer(Binding binding) {
        List<Range> data = byId.get(binding.ref(0));
        Layer layer = new Layer(binding, types.get(binding.ref(0)));
        return o -> layer.accumulator(o, data);
    }

    private IntFunction<Range> follower(Binding binding) {
        Op op = binding.op();
        if (op instanceof QnnAdd) {
            return sum(binding);
        }
        List<Range> data = byId.get(binding.ref(0));
        ChannelFlow.Follows flow = (ChannelFlow.Follows) ChannelFlow.of(binding, types);
        IntFunction<Range> source = c -> data.get(flow.source(c));
        if (op instanceof BiasAdd) {
            return c -> source.apply(c).plus(binding.constant(1).integer(c));
        }
        if (op instanceof TflRequantize requantize) {
            return c -> requantized(binding, requantize, source.apply(c), c);
        }
        if (op instanceof Clip clip) {
            return c -> source.apply(c).image(x -> FixedPoint.clamp(x, (long) clip.min(), (long) clip.max()));
        }
        if (op instanceof AvgPool2d pool) {
            return pool(pool.window(), binding, source);
        }
        if (op instanceof MaxPool2d pool) {
            return pool(pool.window(), binding, source);
        }
        return source;
    }

    private static Range requantized(Binding binding, TflRequantize op, Range range, int channel) {
        Constant multiplier = binding.constant(1);
        Constant shift = binding.constant(2);
        return range.plus(-op.inputZeroPoint())
                .rescaled((int) multiplier.integer(multiplier.elements() == 1 ? 0 : channel), (int)
                        shift.integer(shift.elements() == 1 ? 0 : channel))
                .plus(op.outputZeroPoint())
                .image(x ->
                        FixedPoint.clamp(x, op.outDtype().min(), op.outDtype().max()));
    }

    /** Means and maxima of what lies in a range lie in it too, as long as every window has a tap and sums fit. */
    private IntFunction<Range> pool(Window window, Binding binding, IntFunction<Range> source) {
        Shape data = types.get(binding.ref(0)).shape();
        boolean covered =
                Taps.inside(window, data, binding.type().shape()).stream().allMatch(inside -> inside.length > 0);
        long taps = (long) window.kernelH() * window.kernelW();
        return c -> {
            Range range = source.apply(c);
            boolean fits = new Range(-taps, taps).plus(range.times(taps)).fits(DType.INT32);
            return covered && fits ? range : Range.whole(binding.type().dtype());
        };
    }

    private IntFunction<Range> sum(Binding binding) {
        TflAddParameters by = TflAddParameters.of(
                binding.constant(2).real(0),
                binding.constant(4).real(0),
                binding.constant(6).real(0));
        List<Range> lhs = operand(binding, 0);
        List<Range> rhs = operand(binding, 1);
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

    private List<Range> operand(Binding sum, int index) {
        Arg operand = sum.args().get(index);
        if (operand instanceof Arg.Ref ref) {
            return byId.get(ref.id());
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
