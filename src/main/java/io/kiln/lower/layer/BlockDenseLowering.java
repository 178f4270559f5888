// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.layer.BlockDense;
import io.kiln.ir.type.Shape;
import io.kiln.kernels.dense.JteblocksGenerated;
import io.kiln.kernels.dense.Jteblocks_fixGenerated;
import io.kiln.kernels.dense.Jteblocks_fixedGenerated;
import io.kiln.lower.ElementStyle;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RootLowering;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Lowers a fully connected layer whose weights have a scale for each block to the kernel {@code dense/blocks}: once for all whole blocks, and
 * once more for a shorter last one.
 */
final class BlockDenseLowering extends RootLowering {
    private final BlockWeights weights;
    private final Epilogue epilogue;
    private final Optional<Buffer> bias;
    private final Buffer sums;
    private final Optional<Buffer> copy;
    private final List<Operands> operands = new ArrayList<>();
    private final Optional<BlockIntegers> integers;

    /** The tables of a part of the blocks. */
    private record Operands(BlockWeights.Part part, List<Buffer> tables) {}

    BlockDenseLowering(FusedOperator op, ElementStyle style) {
        super(op);
        this.weights = BlockWeights.of(op.root());
        this.epilogue = new Epilogue(op, Integer.MAX_VALUE, buffers.tables());
        this.bias = op.bias().map(b -> buffers.tables().add("bias", b.type().dtype(), b.data()));
        for (BlockWeights.Part part : weights.parts()) {
            operands.add(new Operands(part, tables(part)));
        }
        this.sums = buffers.scratch(FLOAT32, (long) BlockWeights.UNITS * weights.groups());
        this.copy = weights.areUneven() ? Optional.of(buffers.scratch(FLOAT32, copied())) : Optional.empty();
        this.integers = style.hasFpu()
                ? Optional.empty()
                : Optional.of(BlockIntegers.of(weights.bits(), weights.parts(), buffers));
    }

    private List<Buffer> tables(BlockWeights.Part part) {
        String suffix = part.first() == 0 ? "" : "_rest";
        List<Buffer> all = new ArrayList<>(List.of(
                weights.table(part, "weight" + suffix, buffers.tables()),
                weights.parameters(part, weights.scales(), "scale" + suffix, buffers.tables())));
        if (weights.haveZeroPoints()) {
            all.add(weights.parameters(part, weights.zeroPoints(), "zero_point" + suffix, buffers.tables()));
        }
        return all;
    }

    /** Elements of the copy of a row's inputs. */
    private long copied() {
        return weights.parts().stream()
                .mapToLong(part -> (long) part.count() * part.steps() * BlockWeights.STEP)
                .sum();
    }

    LoweredOperator lower(Rows rows) {
        Shape out = op.type().shape();
        int depth = weights.depth();
        BlockBuilder body = new BlockBuilder();
        body.loop("row", out.dim(0), (block, row) -> {
            Expr from = block.let("from", mul(row, depth));
            Expr to = block.let("to", mul(row, out.dim(1)));
            start(block);
            copy.ifPresent(x -> copy(block, x, from));
            long first = 0;
            for (Operands each : operands) {
                BlockWeights.Part part = each.part;
                Expr place = copy.isPresent() ? imm(first) : add(from, first);
                Buffer x = block.view("x" + (first == 0 ? "" : "_rest"), copy.orElse(buffers.argument(0)), place);
                call(block, x, each);
                first += (long) part.count() * part.steps() * BlockWeights.STEP;
            }
            block.loop("u", out.dim(1), (unit, u) -> {
                Expr sum = unit.let("sum", load(sums, u));
                epilogue.store(unit, "_out", sum, u, buffers.output(), add(to, u));
            });
        });
        String schedule = "blocks(weight_bits=" + weights.bits() + ")";
        return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), schedule)
                .executing(out.elements() * depth)
                .because("weights stay integers, and the sum of each block is scaled");
    }

    /** Starts the sums at the biases, or at 0; those of units that fill up a group are at 0. */
    private void start(BlockBuilder block) {
        int units = op.type().shape().dim(1);
        bias.ifPresent(table -> block.loop("u", units, (unit, u) -> unit.store(sums, u, load(table, u))));
        int first = bias.isPresent() ? units : 0;
        block.loop("u", imm(first), imm(sums.elements()), (unit, u) -> unit.store(sums, u, imm(0f)));
    }

    /** Copies a row's inputs, and zeros behind each block. */
    private void copy(BlockBuilder block, Buffer to, Expr from) {
        long at = 0;
        for (Operands each : operands) {
            BlockWeights.Part part = each.part;
            int padded = part.steps() * BlockWeights.STEP;
            Expr source = add(from, (long) part.first() * weights.op().block());
            long target = at;
            block.loop("b", part.count(), (one, b) -> {
                one.loop("k", part.length(), (inner, k) -> {
                    Expr value = load(buffers.argument(0), add(add(source, mul(b, part.length())), k));
                    inner.store(to, add(add(imm(target), mul(b, padded)), k), value);
                });
                one.loop("k", imm(part.length()), imm(padded), (inner, k) -> {
                    inner.store(to, add(add(imm(target), mul(b, padded)), k), imm(0f));
                });
            });
            at += (long) part.count() * padded;
        }
    }

    private void call(BlockBuilder block, Buffer x, Operands of) {
        List<Buffer> pointers = new ArrayList<>(List.of(x));
        integers.ifPresent(fixed -> pointers.addAll(fixed.emit(block, x, of.part)));
        pointers.addAll(of.tables);
        pointers.add(sums);
        block.call(kernel(), pointers, List.of(imm(weights.groups()), imm(of.part.count()), imm(of.part.steps())));
    }

    private Kernel kernel() {
        int bits = weights.bits();
        boolean hasZeroPoints = weights.haveZeroPoints();
        String name = "kiln_blocks_" + bits + (hasZeroPoints ? "_zero" : "") + (integers.isPresent() ? "_fixed" : "");
        List<Pointer> pointers = new ArrayList<>(List.of(Pointer.in(FLOAT32)));
        if (integers.isPresent()) {
            pointers.addAll(List.of(Pointer.in(INT32), Pointer.in(FLOAT32)));
        }
        pointers.addAll(List.of(Pointer.in(INT32), Pointer.in(FLOAT32)));
        if (hasZeroPoints) {
            pointers.add(Pointer.in(FLOAT32));
        }
        pointers.add(Pointer.out(FLOAT32));
        return Kernel.of(name, pointers, 3, (out, html) -> {
            if (integers.isPresent()) {
                int span = integers.get().span();
                Jteblocks_fixedGenerated.render(out, html, name, bits, hasZeroPoints, span);
            } else {
                JteblocksGenerated.render(out, html, name, bits, hasZeroPoints);
            }
        });
    }

    /**
     * A row of floats as integers for {@code dense/blocks_fixed}: each part of a block has a unit, so that sums of its products with weights fit 32 bits. An
     * integer has 23 bits for weights of four bits and 20 for those of eight, counted from the part's largest float; what is smaller is cut off.
     *
     * @param span steps of a part
     * @param bits of an integer
     * @param fixed receives the integers
     * @param units receives the units of parts
     */
    private record BlockIntegers(int span, int bits, Buffer fixed, Buffer units) {
        private static final int SUM_BITS = 31;

        /** Reserves memory for the blocks of a layer. */
        static BlockIntegers of(int weightBits, List<BlockWeights.Part> parts, OperatorBuffers buffers) {
            int span = weightBits == 4 ? 8 : 4;
            int inputs = BlockWeights.STEP * span;
            int bits = SUM_BITS - (weightBits - 1) - Integer.numberOfTrailingZeros(inputs);
            int steps = parts.stream()
                    .mapToInt(part -> part.count() * part.steps())
                    .max()
                    .orElse(0);
            int units = parts.stream()
                    .mapToInt(part -> part.count() * ((part.steps() + span - 1) / span))
                    .max()
                    .orElse(0);
            return new BlockIntegers(
                    span,
                    bits,
                    buffers.scratch(INT32, (long) BlockWeights.STEP * steps),
                    buffers.scratch(FLOAT32, units));
        }

        /** Emits the conversion of inputs; returns the integers and the units. */
        List<Buffer> emit(BlockBuilder block, Buffer x, BlockWeights.Part part) {
            String name = "kiln_blocks_fix_" + bits;
            Kernel kernel = Kernel.of(
                    name,
                    List.of(Pointer.in(FLOAT32), Pointer.out(INT32), Pointer.out(FLOAT32)),
                    2,
                    (out, html) -> Jteblocks_fixGenerated.render(out, html, name, bits, span));
            block.call(kernel, List.of(x, fixed, units), List.of(Exprs.imm(part.count()), Exprs.imm(part.steps())));
            return List.of(fixed, units);
        }
    }

    /**
     * The weights of a {@link BlockDense} as {@code dense/blocks} reads them, filled up with zeros to blocks of four units and steps of four inputs.
     *
     * <pre>
     * weights: [four units][block][step of four inputs][two inputs][unit], a byte for each, the first input in its lower half;
     *          of more than four bits [four units][block][step][input][unit]
     * scales, zero points: [four units][block][unit]
     * </pre>
     */
    private record BlockWeights(BlockDense op, Constant weights, Constant scales, Constant zeroPoints) {
        /** Units that are computed together. */
        static final int UNITS = 4;

        /** Inputs of a step. */
        static final int STEP = 4;

        private static final int LEAST = -8;
        private static final int MOST = 7;

        /**
         * Blocks of equal length.
         *
         * @param first block
         * @param count their number
         * @param length inputs of each
         */
        record Part(int first, int count, int length) {
            /** Steps of a block. */
            int steps() {
                return (length + STEP - 1) / STEP;
            }
        }

        static BlockWeights of(Binding root) {
            return new BlockWeights((BlockDense) root.op(), root.constant(1), root.constant(2), root.constant(3));
        }

        int depth() {
            return weights.type().shape().dim(1);
        }

        /** The blocks of a row, of which the last one may be shorter. */
        List<Part> parts() {
            int whole = depth() / op.block();
            int rest = depth() % op.block();
            List<Part> parts = new ArrayList<>();
            if (whole > 0) {
                parts.add(new Part(0, whole, op.block()));
            }
            if (rest > 0) {
                parts.add(new Part(whole, 1, rest));
            }
            return parts;
        }

        /** Whether inputs must be copied to a place where each block begins at a whole step: there is something between the blocks, or behind them. */
        boolean areUneven() {
            return parts().stream().anyMatch(part -> part.length % STEP != 0);
        }

        /** Groups of units. */
        int groups() {
            return (op.units() + UNITS - 1) / UNITS;
        }

        /** Bits of a stored weight. */
        int bits() {
            return IntStream.range(0, weights.elements())
                            .allMatch(i -> weights.integer(i) >= LEAST && weights.integer(i) <= MOST)
                    ? 4
                    : 8;
        }

        boolean haveZeroPoints() {
            return IntStream.range(0, zeroPoints.elements()).anyMatch(i -> zeroPoints.real(i) != 0);
        }

        private int weight(int unit, int input, int end) {
            return unit < op.units() && input < end ? (int) weights.integer(unit * depth() + input) : 0;
        }

        /** The table of a part's weights. */
        Buffer table(Part part, String name, Tables tables) {
            int shared = Byte.SIZE / bits();
            List<Integer> words = new ArrayList<>();
            for (int unit = 0; unit < UNITS * groups(); unit += UNITS) {
                for (int block = part.first; block < part.first + part.count; block++) {
                    int begin = block * op.block();
                    for (int k = 0; k < STEP * part.steps(); k += shared) {
                        words.add(word(unit, begin + k, shared, begin + part.length));
                    }
                }
            }
            return tables.add(name, DType.INT32, words.stream().mapToInt(w -> w).toArray());
        }

        /** The weights of four units for one input, or for two. */
        private int word(int unit, int input, int shared, int end) {
            int word = 0;
            for (int u = UNITS - 1; u >= 0; u--) {
                int first = weight(unit + u, input, end);
                int all = shared == 1 ? first & 0xFF : (first & 0xF) | (weight(unit + u, input + 1, end) & 0xF) << 4;
                word = word << Byte.SIZE | all;
            }
            return word;
        }

        /** The table of a part's scales, or of its zero points. */
        Buffer parameters(Part part, Constant of, String name, Tables tables) {
            float[] all = new float[UNITS * groups() * part.count];
            int blocks = of.type().shape().dim(1);
            for (int i = 0; i < all.length; i++) {
                int unit = i / (UNITS * part.count) * UNITS + i % UNITS;
                int block = part.first + i / UNITS % part.count;
                all[i] = unit < op.units() ? of.real(unit * blocks + block) : 0;
            }
            return tables.add(name, all);
        }
    }
}
