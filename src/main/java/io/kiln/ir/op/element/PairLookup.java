// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * A function of two int8 elements, with broadcasting, as a table of all pairs: {@code table[lhs + 128][rhs + 128]}. Arguments: lhs, rhs,
 * table (int8, 256 by 256; fewer rows if the left operand is a constant that selects none of the others). The kind says what the table rounds, so that a lowering can look for arithmetic that gives the same results
 * for all pairs; it does not change them.
 *
 * @param kind what is rounded
 * @param lhs factor of the left operand, or of the product
 * @param rhs factor of the right operand, or 0
 * @param lhsZeroPoint subtracted from the left operand
 * @param rhsZeroPoint subtracted from the right operand
 */
public record PairLookup(Kind kind, double lhs, double rhs, int lhsZeroPoint, int rhsZeroPoint) implements Op {
    /** Elements of a table's dimension. */
    public static final int SIZE = 256;

    private static final double MOST_FACTOR = 1 << 16;

    /**
     * The real value of the function, which is rounded, added to a zero point and saturated. x and y are the operands less their zero
     * points.
     */
    public enum Kind {
        /** {@code lhs * x + rhs * y}. */
        SUM("sum"),
        /** {@code lhs * x * y}. */
        PRODUCT("product"),
        /** Anything. */
        ANY("any");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        public String text() {
            return text;
        }
    }

    public PairLookup {
        Check.that(
                Math.abs(lhs) <= MOST_FACTOR && Math.abs(rhs) <= MOST_FACTOR,
                "factors must be at most " + MOST_FACTOR + ", not " + lhs + " and " + rhs);
    }

    /** A function that no formula describes. */
    public PairLookup() {
        this(Kind.ANY, 0, 0, 0, 0);
    }

    @Override
    public String name() {
        return "onnx.pair_lookup";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public int operands() {
        return 2;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "kind",
                kind.text(),
                "lhs",
                lhs,
                "rhs",
                rhs,
                "lhs_zero_point",
                lhsZeroPoint,
                "rhs_zero_point",
                rhsZeroPoint);
    }

    @Override
    public void check(Arguments args) {
        int rows = args.type(2).shape().dim(0);
        if (rows < SIZE) {
            args.require(
                    args.constant(0).isPresent(),
                    "the left operand of " + name() + " is computed, and its table has " + rows + " rows",
                    "a constant operand, or a table of " + SIZE + " rows");
            args.integers(
                    0,
                    "left operand",
                    row -> row - Byte.MIN_VALUE < rows,
                    "less than " + (rows + Byte.MIN_VALUE) + ", because the table has " + rows + " rows");
        }
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("lhs of " + name(), args.get(0), DType.INT8);
        Check.dtype("rhs of " + name(), args.get(1), DType.INT8);
        Check.dtype("table of " + name(), args.get(2), DType.INT8);
        Shape table = args.get(2).shape();
        Check.that(
                table.rank() == 2 && table.dim(0) >= 1 && table.dim(0) <= SIZE && table.dim(1) == SIZE,
                "the table of " + name() + " must have 1 to " + SIZE + " rows of " + SIZE + " elements, not "
                        + table.text());
        Check.that(
                table.dim(0) == SIZE || kind == Kind.ANY,
                "a " + kind.text() + " of " + name() + " must have a table of all pairs, not of " + table.dim(0)
                        + " rows");
        return new TensorType(Check.broadcast(args.get(0).shape(), args.get(1).shape()), DType.INT8);
    }
}
