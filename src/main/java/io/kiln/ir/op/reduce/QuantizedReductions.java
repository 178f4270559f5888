// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Operand;
import io.kiln.ir.op.Reduction;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.TflRequantize;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/** Sums and products of quantized elements in the arithmetic of TensorFlow Lite. */
public final class QuantizedReductions {
    private QuantizedReductions() {}

    /**
     * Sums of int8 or int16 along dimensions, as int32: {@code sum of (data - zeroPoint)}. A quantized SUM or MEAN of
     * TensorFlow Lite (reference_ops::QuantizedMeanOrSum in reduce.h) is followed by a {@link TflRequantize}, for a mean
     * with the multiplier divided by the number of elements.
     *
     * <p>Arguments: data, its zero point (int32 scalar).
     *
     * @param axes the dimensions, from 0, ascending
     * @param keepDims whether they remain, as dimensions of 1
     */
    public record TflSum(List<Integer> axes, boolean keepDims) implements Reduction {
        private static final int MAX_AXIS = 7;

        public static final Signature<TflSum> SIGNATURE = Signature.of(TflSum.class, "tfl.sum")
                .data("data", Operand::filled, DType.INT8, DType.INT16)
                .zeroPoint("zero point")
                .attributes(
                        Attribute.axes("axis", TflSum::axes, MAX_AXIS),
                        Attribute.truth("keepdims", TflSum::keepDims),
                        TflSum::new)
                .traits(Trait.TAKES_CLIP, Trait.ACCUMULATES)
                .rules(TflSum::rules)
                .result((op, args) ->
                        new TensorType(Reduce.reduced(args.get(0).shape(), op.axes, op.keepDims), DType.INT32));

        @Override
        public Card<TflSum> card() {
            return SIGNATURE.of(this);
        }

        public TflSum {
            axes = List.copyOf(axes);
        }

        /** The largest magnitude of a term. */
        public static long largestTerm(DType data, int zeroPoint) {
            return Math.max(data.max() - zeroPoint, zeroPoint - data.min());
        }

        /** Number of elements summed for each element of the result. */
        public long terms(Shape data) {
            return axes.stream().mapToLong(data::dim).reduce(1, (a, b) -> a * b);
        }

        private void rules(Arguments args) {
            DType dtype = args.data().dtype();
            long most = Integer.MAX_VALUE / (dtype.max() - dtype.min());
            long terms = terms(args.data().shape());
            args.require(
                    terms <= most,
                    "sums of " + terms + " elements may exceed 32 bits",
                    "at most " + most + " elements in a sum");
        }
    }

    /**
     * Products of quantized int8 or int16 along dimensions (reference_ops::QuantizedReduceProd in reduce.h). Each step and the end are rescaled in
     * 64 bits, as {@link FixedPoint#multiplyByQuantizedMultiplier(long, int, int)} has it:
     *
     * <pre>{@code
     * p = data[0] - inputZeroPoint;  p = M(p * (data[i] - inputZeroPoint)) for each further i;  saturate(M(p) + outputZeroPoint)
     * }</pre>
     *
     * <p>Argument: data; the result has its type.
     *
     * @param axes the dimensions, from 0, ascending
     * @param keepDims whether they remain, as dimensions of 1
     * @param step the input's scale by the root of the output's, of as many factors as there are
     * @param inputZeroPoint subtracted from each factor
     * @param outputZeroPoint added to the result
     */
    public record TflProduct(
            List<Integer> axes, boolean keepDims, QuantizedMultiplier step, int inputZeroPoint, int outputZeroPoint)
            implements Reduction {
        private static final int MAX_AXIS = 7;

        /** Larger shifts leave no room for the rounding of 64 bits. */
        public static final int MOST_SHIFT = 14;

        public static final Signature<TflProduct> SIGNATURE = Signature.of(TflProduct.class, "tfl.product")
                .data("data", Operand::filled, DType.INT8, DType.INT16)
                .attributes(
                        Attribute.axes("axis", TflProduct::axes, MAX_AXIS),
                        Attribute.truth("keepdims", TflProduct::keepDims),
                        Attribute.whole("multiplier", op -> op.step.multiplier(), 0),
                        Attribute.whole("shift", op -> op.step.shift(), -31, MOST_SHIFT),
                        Attribute.whole("input_zero_point", TflProduct::inputZeroPoint),
                        Attribute.whole("output_zero_point", TflProduct::outputZeroPoint),
                        (axes, keepDims, multiplier, shift, input, output) -> new TflProduct(
                                axes, keepDims, new QuantizedMultiplier(multiplier, shift), input, output))
                .traits()
                .rules(TflProduct::rules)
                .result((op, args) -> new TensorType(
                        Reduce.reduced(args.get(0).shape(), op.axes, op.keepDims),
                        args.get(0).dtype()));

        @Override
        public Card<TflProduct> card() {
            return SIGNATURE.of(this);
        }

        public TflProduct {
            axes = List.copyOf(axes);
        }

        public int rescaled(long product) {
            return FixedPoint.multiplyByQuantizedMultiplier(product, step.multiplier(), step.shift());
        }

        private void rules(Arguments args) {
            DType dtype = args.data().dtype();
            for (int zeroPoint : new int[] {inputZeroPoint, outputZeroPoint}) {
                args.require(
                        Arguments.isIn(dtype, zeroPoint), "a zero point is " + zeroPoint, "a value of " + dtype.text());
            }
        }
    }
}
