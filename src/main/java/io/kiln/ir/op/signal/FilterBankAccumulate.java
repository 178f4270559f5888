// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.signal;

import io.kiln.base.DType;
import io.kiln.ir.arith.FilterBankLayout;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * Sums energies in the channels of a filter bank (signal/src/filter_bank.cc of TensorFlow Lite Micro). Arguments:
 * energies, uint32; then constants of int16: weights and unweights, equal in number; for every channel and one below
 * the first its first energy, its first weight, and its width.
 *
 * <p>The filters are triangles that overlap by half. Each energy of a channel is weighted by its weight for that
 * channel, and by its unweight for the one above: {@code out[c] = sum(weight * energy in c) + sum(unweight * energy in
 * c - 1)}, in uint64 modulo 2^64. The channel below the first contributes its unweights only.
 *
 * @param channels number of channels of the result, 1 or more
 */
public record FilterBankAccumulate(int channels) implements Op {
    public static final Signature<FilterBankAccumulate> SIGNATURE = Signature.of(
                    FilterBankAccumulate.class, "tfl.signal_filter_bank")
            .data("energies", operand -> operand.rank(1).filled(), DType.UINT32)
            .constant("weights", operand -> operand.rank(1), DType.INT16)
            .constant("unweights", operand -> operand.rank(1), DType.INT16)
            .constant("frequency starts", operand -> operand.rank(1), DType.INT16)
            .constant("weight starts", operand -> operand.rank(1), DType.INT16)
            .constant("widths", operand -> operand.rank(1), DType.INT16)
            .attributes(
                    Attribute.whole("num_channels", FilterBankAccumulate::channels, 1, Integer.MAX_VALUE - 1),
                    FilterBankAccumulate::new)
            .traits()
            .rules(FilterBankAccumulate::rules)
            .result(FilterBankAccumulate::result);

    @Override
    public Card<FilterBankAccumulate> card() {
        return SIGNATURE.of(this);
    }

    /** Position of the weights among the arguments. */
    public static final int WEIGHTS = SIGNATURE.position("weights");

    /** Position of the unweights among the arguments. */
    public static final int UNWEIGHTS = SIGNATURE.position("unweights");

    /** Position of the channels' first energies among the arguments. */
    public static final int ENERGY_STARTS = SIGNATURE.position("frequency starts");

    /** Position of the channels' first weights among the arguments. */
    public static final int WEIGHT_STARTS = SIGNATURE.position("weight starts");

    /** Position of the channels' widths among the arguments. */
    public static final int WIDTHS = SIGNATURE.position("widths");

    public FilterBankAccumulate {
        Check.that(channels >= 1, "a filter bank has 1 channel or more, not " + channels);
    }

    private static int integer(Arguments args, int position, int index) {
        return (int) args.constant(position).orElseThrow().integer(index);
    }

    private void rules(Arguments args) {
        if (args.areConstant(1)) {
            FilterBankLayout.of(
                            channels + 1,
                            i -> integer(args, ENERGY_STARTS, i),
                            i -> integer(args, WEIGHT_STARTS, i),
                            i -> integer(args, WIDTHS, i))
                    .problems(
                            args.data().shape().dim(0),
                            args.constant(WEIGHTS).orElseThrow().elements())
                    .forEach(problem -> args.require(false, problem, "channels within the data and the weights"));
        }
    }

    private TensorType result(List<TensorType> args) {
        int weights = args.get(WEIGHTS).shape().dim(0);
        int unweights = args.get(UNWEIGHTS).shape().dim(0);
        Check.that(weights == unweights, weights + " weights and " + unweights + " unweights differ in number");
        for (int i = ENERGY_STARTS; i < arity(); i++) {
            int elements = args.get(i).shape().dim(0);
            Check.that(
                    elements - 1 == channels,
                    elements + " " + SIGNATURE.operands().get(i).name() + " do not fit " + channels
                            + " channels and the one below them");
        }
        return new TensorType(Shape.of(channels), DType.UINT64);
    }
}
