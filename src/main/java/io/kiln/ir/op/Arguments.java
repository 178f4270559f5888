// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.type.ConstantElements;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * The arguments of a call, for an operator's checks of what Kiln compiles: ranges of scales, zero points, multipliers,
 * limits and layouts. Arguments that should be constant and are not are reported elsewhere and skipped here.
 */
public final class Arguments {
    /** Receives every rule and whether it is satisfied. */
    public interface Requirement {
        void require(boolean holds, String what, String expected);
    }

    /** The reference kernels' rescaling takes sums of 48 bits; this limit leaves room for the products. */
    private static final long MOST_BIAS = 1L << 46;

    private final Op op;
    private final List<TensorType> types;
    private final List<Optional<? extends ConstantElements>> constants;
    private final Requirement rules;

    /**
     * The arguments of a call that fits the operator.
     *
     * @param types by position
     * @param constants by position; empty for computed arguments
     */
    public Arguments(
            Op op, List<TensorType> types, List<Optional<? extends ConstantElements>> constants, Requirement rules) {
        this.op = op;
        this.types = List.copyOf(types);
        this.constants = List.copyOf(constants);
        this.rules = rules;
    }

    /** Type of the first argument. */
    public TensorType data() {
        return types.get(0);
    }

    /** Type of an argument. */
    public TensorType type(int position) {
        return types.get(position);
    }

    /** An argument's elements; empty if it is computed. */
    public Optional<? extends ConstantElements> constant(int position) {
        return constants.get(position);
    }

    public boolean areConstant(int from) {
        return constants.stream().skip(from).allMatch(Optional::isPresent);
    }

    public void require(boolean holds, String what, String expected) {
        rules.require(holds, what, expected);
    }

    /** A zero point of elements of a type; those that are not integers have none. */
    public void zeroPoint(int position, DType dtype) {
        if (dtype.isInteger()) {
            integers(position, "zero point", zero -> isIn(dtype, zero), dtype.min() + " to " + dtype.max());
        }
    }

    public void scales(int position) {
        constant(position).ifPresent(scales -> {
            boolean holds = true;
            for (int i = 0; i < scales.elements(); i++) {
                holds &= isScale(scales.real(i));
            }
            require(holds, "a scale of " + op.name() + " is not valid", "finite numbers above 0");
        });
    }

    public static boolean isScale(float value) {
        return value > 0 && Float.isFinite(value);
    }

    /** Checks every element against a rule. */
    public void integers(int position, String what, LongPredicate rule, String expected) {
        constant(position).ifPresent(values -> {
            for (int i = 0; i < values.elements(); i++) {
                if (!rule.test(values.integer(i))) {
                    require(false, "a " + what + " of " + op.name() + " is " + values.integer(i), expected);
                    return;
                }
            }
        });
    }

    /** Checks biases of sums of 64 bits. */
    public void biases(int position) {
        if (type(position).dtype() == DType.INT64) {
            require(constant(position).isPresent(), "the bias of " + op.name() + ", int64, is computed", "a constant");
            integers(position, "bias", bias -> bias >= -MOST_BIAS && bias <= MOST_BIAS, "-2^46 to 2^46");
        }
    }

    /** Checks that the arithmetic of rescaling stays within its word size. */
    public void ratio(int from, int to, double most) {
        if (constant(from).isEmpty() || constant(to).isEmpty()) {
            return;
        }
        ConstantElements inputs = constant(from).orElseThrow();
        float output = constant(to).orElseThrow().real(0);
        for (int i = 0; i < inputs.elements(); i++) {
            double ratio = inputs.real(i) / (double) output;
            if (Double.isFinite(ratio) && ratio >= most) {
                require(
                        false,
                        "an input scale of " + op.name() + " is " + ratio + " times the output's",
                        "below " + most + " times");
                return;
            }
        }
    }

    public void lastAxis(int axis) {
        int rank = data().shape().rank();
        require(axis == -1 || axis == rank - 1, "the axis " + axis + " is not the last", "-1 or " + (rank - 1));
    }

    /** Checks a softmax's factor and data. */
    public void softmax(float beta) {
        require(isScale(beta), "beta is " + beta, "a finite number above 0");
        require(data().shape().rank() > 0, "softmax of a scalar", "a rank of at least 1");
    }

    public static boolean isIn(DType dtype, long value) {
        return value >= dtype.min() && value <= dtype.max();
    }
}
