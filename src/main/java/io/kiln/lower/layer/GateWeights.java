// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.Lstm;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.RequantizeCalls;
import io.kiln.lower.SumKernels;
import io.kiln.lower.SumKernels.WholeRequantizer;
import io.kiln.lower.SumKernels.WordRequantizer;
import io.kiln.lower.Tables;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The constants of {@link Lstm}'s gates for the data or for the hidden state.
 *
 * @param recurrent whether they are for the hidden state, which has no bias
 */
record GateWeights(FusedOperator op, boolean recurrent) {
    private Lstm lstm() {
        return (Lstm) op.root().op();
    }

    Constant weights(int gate) {
        return op.root().constant((recurrent ? Lstm.RECURRENT_WEIGHTS : Lstm.INPUT_WEIGHTS) + gate);
    }

    int units() {
        return op.type().shape().dim(2);
    }

    /** Number of values that a gate of a unit accumulates. */
    int count() {
        return weights(0).type().shape().dim(1);
    }

    long weight(int gate, int unit, int place) {
        return weights(gate).integer(unit * count() + place);
    }

    int zeroPoint() {
        return recurrent ? lstm().hiddenZeroPoint() : lstm().inputZeroPoint();
    }

    /** The multiplier that requantizes the accumulators of a gate. */
    QuantizedMultiplier multiplier(int gate) {
        return multiplier(op, recurrent ? Lstm.GATES + gate : gate);
    }

    /** The multipliers that requantize the accumulators of all gates. */
    List<QuantizedMultiplier> multipliers() {
        return IntStream.range(0, Lstm.GATES).mapToObj(this::multiplier).toList();
    }

    /** A multiplier of the operator, by its index. */
    static QuantizedMultiplier multiplier(FusedOperator op, int index) {
        return new QuantizedMultiplier(
                (int) op.root().constant(Lstm.MULTIPLIERS).integer(index),
                (int) op.root().constant(Lstm.MULTIPLIERS + 1).integer(index));
    }

    /**
     * The initial value of an accumulator.
     *
     * @param folds whether it holds the zero point
     */
    long beginning(int gate, int unit, boolean folds) {
        long first = recurrent ? 0 : op.root().constant(Lstm.BIASES + gate).integer(unit);
        for (int i = 0; folds && i < count(); i++) {
            first -= zeroPoint() * weight(gate, unit, i);
        }
        return first;
    }

    /** Largest magnitude of an accumulator; beyond 32 bits those of int8 data wrap around in the reference kernel. */
    long bound(boolean folds) {
        DType dtype = op.type().dtype();
        long largest = folds ? -dtype.min() : Math.max(dtype.max() - zeroPoint(), zeroPoint() - dtype.min());
        long most = 0;
        for (int gate = 0; gate < Lstm.GATES; gate++) {
            for (int unit = 0; unit < units(); unit++) {
                long magnitude = 0;
                for (int i = 0; i < count(); i++) {
                    magnitude += Math.abs(weight(gate, unit, i));
                }
                most = Math.max(most, Math.abs(beginning(gate, unit, folds)) + largest * magnitude);
            }
        }
        return most;
    }

    /** A micro-kernel for the accumulators with their zero point folded, if there is one and they can be requantized. */
    Optional<SumKernels.Dots> dots(SumKernels kernels) {
        long bound = bound(true);
        if (isWide()) {
            return bound <= Integer.MAX_VALUE ? Optional.of(kernels.wideDots()) : Optional.empty();
        }
        long least = 0;
        for (int gate = 0; gate < Lstm.GATES; gate++) {
            for (int i = 0; i < weights(gate).elements(); i++) {
                least = Math.min(least, weights(gate).integer(i));
            }
            if (!SumKernels.takes(multiplier(gate), bound)) {
                return Optional.empty();
            }
        }
        return kernels.dots(bound, least);
    }

    /** Whether values are int16, whose accumulators are rounded once. */
    boolean isWide() {
        return op.type().dtype() == DType.INT16;
    }

    /** The requantization of the kernel's accumulators. */
    SumKernels.Requantizer rescaler(SumKernels kernels, SumKernels.Result result, Tables tables, String name) {
        SumKernels.Group group = new SumKernels.Group(SumKernels.Sums.DOTS, result, multipliers(), bound(true), 0);
        if (!areShort()) {
            return new WholeRequantizer(group, kernels.doublesDots());
        }
        return isWide() ? new WordRequantizer(group, true) : kernels.rescaler(group, tables, name);
    }

    /** Whether requantized accumulators are, or become, int16 before they are added to others. */
    boolean areShort() {
        return !recurrent
                || lstm().arithmetic() == Lstm.Arithmetic.MICRO
                || multipliers().stream().allMatch(by -> RequantizeCalls.largest(by, bound(true)) <= Short.MAX_VALUE);
    }
}
