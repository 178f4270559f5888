// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.arith.InterpolatedTable;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;

/** The functions of integers by tables. */
public final class Lookups {
    private Lookups() {}

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
        public static final Signature<PairLookup> SIGNATURE = Signature.of(PairLookup.class, "onnx.pair_lookup")
                .data("lhs", DType.INT8)
                .data("rhs", DType.INT8)
                .constant(
                        "table",
                        operand -> operand.fits((what, type, op, args) -> op.fitTable(type.shape())),
                        DType.INT8)
                .attributes(
                        Attribute.choice("kind", PairLookup::kind, Kind::text, List.of(Kind.values())),
                        Attribute.real("lhs", PairLookup::lhs),
                        Attribute.real("rhs", PairLookup::rhs),
                        Attribute.whole("lhs_zero_point", PairLookup::lhsZeroPoint, Byte.MIN_VALUE, Byte.MAX_VALUE),
                        Attribute.whole("rhs_zero_point", PairLookup::rhsZeroPoint, Byte.MIN_VALUE, Byte.MAX_VALUE),
                        PairLookup::new)
                .rules(PairLookup::rules)
                .broadcast(DType.INT8);

        @Override
        public Card<PairLookup> card() {
            return SIGNATURE.of(this);
        }

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

        private void rules(Arguments args) {
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

        private void fitTable(Shape table) {
            Check.that(
                    table.rank() == 2 && table.dim(0) >= 1 && table.dim(0) <= SIZE && table.dim(1) == SIZE,
                    "the table of " + name() + " must have 1 to " + SIZE + " rows of " + SIZE + " elements, not "
                            + table.text());
            Check.that(
                    table.dim(0) == SIZE || kind == Kind.ANY,
                    "a " + kind.text() + " of " + name() + " must have a table of all pairs, not of " + table.dim(0)
                            + " rows");
        }
    }

    /**
     * A function of int8 as a table of all 256 values: {@code table[data + 128]}. Arguments: data, table (a vector of 256
     * elements; the result has their type).
     */
    public record TflLookup() implements Op {
        public static final Signature<TflLookup> SIGNATURE = Signature.of(TflLookup.class, "tfl.lookup")
                .data("data", DType.INT8)
                .constant("table", operand -> operand.rank(1).fits((what, type, op, args) -> fitTable(type)))
                .attributes(TflLookup::new)
                .result((op, args) ->
                        new TensorType(args.get(0).shape(), args.get(1).dtype()));

        @Override
        public Card<TflLookup> card() {
            return SIGNATURE.of(this);
        }

        /** Number of elements of the table. */
        public static final int SIZE = 256;

        private static void fitTable(TensorType table) {
            Check.that(
                    table.shape().dim(0) == SIZE,
                    "the table of tfl.lookup must have " + SIZE + " elements, not "
                            + table.shape().text());
        }
    }

    /**
     * A function of int16 by interpolation in a table of 513 elements (LUTLookup in kernels/internal/common.h), see {@link
     * InterpolatedTable#at}. Arguments: data; table, a vector of int16. The result is int16.
     */
    public record TflLookup16() implements Op {
        public static final Signature<TflLookup16> SIGNATURE = Signature.of(TflLookup16.class, "tfl.lookup16")
                .data("data", DType.INT16)
                .constant(
                        "table", operand -> operand.rank(1).fits((what, type, op, args) -> fitTable(type)), DType.INT16)
                .attributes(TflLookup16::new)
                // It stores what the table says: a limit has loops of its own.
                .traits()
                .result((op, args) -> args.get(0));

        @Override
        public Card<TflLookup16> card() {
            return SIGNATURE.of(this);
        }

        private static void fitTable(TensorType table) {
            Check.that(
                    table.shape().dim(0) == InterpolatedTable.SIZE,
                    "the table of tfl.lookup16 must have " + InterpolatedTable.SIZE + " elements, not "
                            + table.shape().text());
        }
    }
}
