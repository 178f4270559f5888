// SPDX-License-Identifier: Apache-2.0
package io.kiln.transform;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.type.TensorType;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

/**
 * The range of each channel of each integer value, over all inputs and positions, in the reference interpreter's
 * arithmetic. A channel whose range is a single value is constant. Every rule is monotone in its arguments, so the ends
 * of a range determine it; where 32 bits could wrap around, the type's full range is assumed.
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

    /** Ranges by the ids of parameters and bindings, one per channel; without values that are not integers. */
    static Map<Integer, List<Range>> of(Function function) {
        return new ChannelRanges(function).byId;
    }

    private static List<Range> whole(TensorType type) {
        return Collections.nCopies(ChannelRules.ChannelFlow.channels(type.shape()), Range.whole(type.dtype()));
    }

    /** The ranges of a value. */
    List<Range> of(int id) {
        return byId.get(id);
    }

    /** The type of a value. */
    TensorType type(int id) {
        return types.get(id);
    }

    private List<Range> of(Binding binding) {
        if (ChannelRules.ChannelFlow.of(binding, types) instanceof ChannelRules.ChannelFlow.Opaque) {
            return whole(binding.type());
        }
        IntFunction<Range> rule = ChannelRules.of(binding.op()).orElseThrow().ranges(binding, this);
        return IntStream.range(
                        0, ChannelRules.ChannelFlow.channels(binding.type().shape()))
                .mapToObj(rule)
                .map(range -> range.orWhole(binding.type().dtype()))
                .toList();
    }

    /**
     * A range of integers, both ends included.
     *
     * @param low the smallest
     * @param high the largest
     */
    record Range(long low, long high) {
        /** All values of an integer type. */
        static Range whole(DType dtype) {
            return new Range(dtype.min(), dtype.max());
        }

        static Range point(long value) {
            return new Range(value, value);
        }

        boolean isPoint() {
            return low == high;
        }

        boolean fits(DType dtype) {
            return low >= dtype.min() && high <= dtype.max();
        }

        /** This range if the type can hold it; otherwise the type's full range, because the value wraps around. */
        Range orWhole(DType dtype) {
            return fits(dtype) ? this : whole(dtype);
        }

        Range plus(Range other) {
            return new Range(low + other.low, high + other.high);
        }

        Range plus(long value) {
            return new Range(low + value, high + value);
        }

        /** The products with a factor of either sign. */
        Range times(long factor) {
            return image(x -> x * factor);
        }

        /** The smallest range around both. */
        Range hull(Range other) {
            return new Range(Math.min(low, other.low), Math.max(high, other.high));
        }

        /** The image of the range under a monotone function. */
        Range image(LongUnaryOperator monotone) {
            return point(monotone.applyAsLong(low)).hull(point(monotone.applyAsLong(high)));
        }

        /**
         * {@link FixedPoint#multiplyByQuantizedMultiplier} over the range. It is monotone unless the argument or its left
         * shift wraps around; then the result is the full range of 32 bits.
         */
        Range rescaled(int multiplier, int shift) {
            boolean defined = Math.abs((long) shift) <= 31 && fits(DType.INT32);
            if (!defined || !times(1L << Math.max(shift, 0)).fits(DType.INT32)) {
                return whole(DType.INT32);
            }
            return image(x -> FixedPoint.multiplyByQuantizedMultiplier((int) x, multiplier, shift));
        }
    }
}
