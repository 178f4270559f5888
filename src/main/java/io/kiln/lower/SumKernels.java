// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.shr;

import io.kiln.base.Bytes;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * A core's micro-kernels for stateful layers: many accumulators at once, in words of scratch, and their requantization to results
 * of 8 or 16 bits.
 */
public interface SumKernels {
    /** A weight by row and position. */
    @FunctionalInterface
    interface Weights {
        long get(int row, int place);
    }

    /**
     * The kernel for dot products of int8 values with rows of int8 weights; empty if there is none.
     *
     * @param bound largest magnitude of a sum with its initial value
     * @param least smallest weight
     */
    Optional<Dots> dots(long bound, long least);

    /** Whether the kernel for int8 values stores accumulators doubled. */
    default boolean doublesDots() {
        return false;
    }

    /** The kernel for dot products of int16 values with rows of int8 weights, in 32 bits; a {@link WordRequantizer} takes their results. */
    Dots wideDots();

    /** Dot products of int8 or int16 values with blocks of rows. */
    interface Dots {
        /** Number of rows in a block. */
        int rows();

        /** The table of weights and initial values; the number of rows is a multiple of {@link #rows()}. */
        Bytes pack(int rows, int count, Weights weights, IntUnaryOperator begin);

        /** Emits the dot products of rows with the values at a place, for a {@link Requantizer} from {@link Sums#DOTS}. */
        void emit(BlockBuilder code, Block block, Buffer values, Expr from, Buffer sums);
    }

    /**
     * A block of adjacent rows of weights.
     *
     * @param weights from {@link Dots#pack}
     * @param first first of the rows, a multiple of {@link Dots#rows()}
     * @param rows their number, likewise
     * @param count number of weights in a row
     */
    record Block(Buffer weights, Expr first, int rows, int count) {}

    /** The accumulators that a {@link Requantizer} reads. */
    enum Sums {
        /** The result of {@link Dots}, which may be scaled. */
        DOTS,
        /** Any int32. */
        WORDS
    }

    /** How a {@link Requantizer} stores a requantized accumulator. */
    enum Result {
        /** An int16, saturated. */
        SHORT,
        /** An int16 added to the one that is there; both saturate. */
        SHORT_ADDED,
        /** An int8 with a zero point, saturated. */
        BYTE
    }

    /**
     * Accumulators that become results, in groups with a multiplier each.
     *
     * @param by one for each group
     * @param bound largest magnitude of a sum; {@code 1L << 31} of any int32
     * @param zeroPoint of {@link Result#BYTE}
     */
    record Group(Sums source, Result result, List<QuantizedMultiplier> by, long bound, int zeroPoint) {
        public Group {
            by = List.copyOf(by);
        }
    }

    /**
     * Whether every {@link Requantizer} takes a multiplier.
     *
     * @param bound largest magnitude of {@link Sums#DOTS}; 0 for {@link Sums#WORDS}, which wrap around if they are shifted left
     */
    static boolean takes(QuantizedMultiplier by, long bound) {
        return by.multiplier() >= 0
                && by.shift() > -Integer.SIZE
                && by.shift() < Integer.SIZE - 1
                && bound << (1 + Math.max(0, by.shift())) <= Integer.MAX_VALUE;
    }

    /** A table of multipliers: multiplier, and right shift less 1 or the complement of the left shift, in turn. */
    static int[] multipliers(List<QuantizedMultiplier> by) {
        return by.stream()
                .flatMapToInt(m -> IntStream.of(m.multiplier(), -1 - m.shift()))
                .toArray();
    }

    /** Requantizes accumulators by TFLite's arithmetic, with two roundings. */
    @FunctionalInterface
    interface Requantizer {
        /**
         * Emits the requantization of the accumulators of all groups, in order.
         *
         * @param count sums in a group
         */
        void emit(BlockBuilder code, int count, Buffer sums, Buffer results);
    }

    /**
     * The requantization of groups of accumulators.
     *
     * @param tables receives the multipliers if they are in a table
     * @param name of that table
     */
    Requantizer rescaler(Group group, Tables tables, String name);

    /** Whether {@link #columns} takes rows of this many elements. */
    boolean takesColumns(int columns);

    /** Number of sums for which {@link #columns} needs initial values and memory. */
    int paddedColumns(int columns);

    /** Number of adjacent columns that {@link #columns} sums together from a column on. */
    int columnsOfBlock(int columns, int first);

    /** The table of int16 weights for {@link #columns}, block by block: a weight by row and column. */
    default Bytes packColumns(int rows, int columns, Weights weights) {
        int padded = paddedColumns(columns);
        ByteBuffer data = ByteBuffer.allocate(rows * padded * Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int width;
        for (int block = 0; block < padded; block += width) {
            width = columnsOfBlock(columns, block);
            for (int row = 0; row < rows; row++) {
                for (int column = block; column < block + width; column++) {
                    data.putShort(column < columns ? (short) weights.get(row, column) : 0);
                }
            }
        }
        return Bytes.wrap(data.array());
    }

    /**
     * Sums down the columns of a ring of rows.
     *
     * @param weights from {@link #packColumns}
     * @param begin int32, the initial value of each column's sum
     * @param columns elements of a row
     * @param oldest index of the first row, which is weighted first
     * @param rows number of rows in the ring
     */
    record Ring(Buffer weights, Buffer begin, int columns, Expr oldest, int rows) {}

    /** Emits the products of an int16 ring with its weights, summed for each column in 32 bits that wrap. */
    void columns(BlockBuilder code, Ring ring, Buffer state, Buffer sums);

    /**
     * Requantizes accumulators one by one, by the shortest instructions that are proven for their multiplier and bound.
     *
     * @param group the sums
     * @param isWide whether they are rounded once, as those of int16 data are
     */
    public record WordRequantizer(Group group, boolean isWide) implements SumKernels.Requantizer {
        @Override
        public void emit(BlockBuilder code, int count, Buffer sums, Buffer results) {
            for (int i = 0; i < group.by().size(); i++) {
                QuantizedMultiplier by = group.by().get(i);
                long first = (long) i * count;
                code.loop("r", count, (each, r) -> {
                    Expr at = add(r, first);
                    Expr sum = each.let("sum", load(sums, at));
                    Expr value = isWide
                            ? Int16Requantize.emit(sum, by, group.bound())
                            : RequantizeCalls.of(sum, by, group.bound());
                    each.store(results, at, result(value, by, load(results, at)));
                });
            }
        }

        private Expr result(Expr value, QuantizedMultiplier by, Expr old) {
            return switch (group.result()) {
                case SHORT -> saturated(value);
                case SHORT_ADDED -> saturated(add(saturated(value), old));
                case BYTE ->
                    new Expr.Call(
                            Intrinsics.SATURATE_8,
                            List.of(RequantizeCalls.plus(
                                    value, group.zeroPoint(), RequantizeCalls.largest(by, group.bound()))));
            };
        }

        private static Expr saturated(Expr value) {
            return new Expr.Call(Intrinsics.SATURATE_16, List.of(value));
        }
    }

    /**
     * Adds requantized accumulators to the int16 that are there, one by one; only the results saturate, other than with
     * {@link SumKernels.Result#SHORT_ADDED}.
     *
     * @param group the sums
     * @param areDoubled whether they are stored doubled
     */
    public record WholeRequantizer(Group group, boolean areDoubled) implements SumKernels.Requantizer {
        @Override
        public void emit(BlockBuilder code, int count, Buffer sums, Buffer results) {
            for (int i = 0; i < group.by().size(); i++) {
                QuantizedMultiplier by = group.by().get(i);
                long first = (long) i * count;
                code.loop("r", count, (each, r) -> {
                    Expr at = add(r, first);
                    Expr stored = load(sums, at);
                    Expr sum = each.let("sum", areDoubled ? shr(stored, imm(1)) : stored);
                    Expr value = RequantizeCalls.plusShort(
                            RequantizeCalls.of(sum, by, group.bound()), load(results, at), by, group.bound());
                    each.store(results, at, new Expr.Call(Intrinsics.SATURATE_16, List.of(value)));
                });
            }
        }
    }
}
