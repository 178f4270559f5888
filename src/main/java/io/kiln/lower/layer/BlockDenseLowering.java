// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT32;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.type.Shape;
import io.kiln.kernels.dense.JteblocksGenerated;
import io.kiln.kernels.dense.Jteblocks_fixedGenerated;
import io.kiln.lower.ElementStyle;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Lowers a fully connected layer whose weights have a scale for each block to the kernel {@code dense/blocks}: once for all whole blocks, and
 * once more for a shorter last one.
 */
final class BlockDenseLowering {
    private final FusedOperator op;
    private final BlockWeights weights;
    private final Tables tables;
    private final OperatorBuffers buffers;
    private final Epilogue epilogue;
    private final Optional<Buffer> bias;
    private final Buffer sums;
    private final Optional<Buffer> copy;
    private final List<Operands> operands = new ArrayList<>();
    private final Optional<BlockIntegers> integers;

    /** The tables of a part of the blocks. */
    private record Operands(BlockWeights.Part part, List<Buffer> tables) {}

    BlockDenseLowering(FusedOperator op, ElementStyle style) {
        this.op = op;
        this.weights = BlockWeights.of(op.root());
        this.tables = new Tables(op.name());
        this.buffers = new OperatorBuffers(op, tables);
        this.epilogue = new Epilogue(op, Integer.MAX_VALUE, tables);
        this.bias = op.bias().map(b -> tables.add("bias", b.type().dtype(), b.data()));
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
                weights.table(part, "weight" + suffix, tables),
                weights.parameters(part, weights.scales(), "scale" + suffix, tables)));
        if (weights.haveZeroPoints()) {
            all.add(weights.parameters(part, weights.zeroPoints(), "zero_point" + suffix, tables));
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
        return Nests.operator(op, buffers, tables, rows, Nests.allRows(op), body.build(), schedule)
                .executing(out.elements() * depth)
                .because("weights stay integers, and the sum of each block is scaled");
    }

    /** Starts the sums at the biases, or at 0; those of units that fill up a group are at 0. */
    private void start(BlockBuilder block) {
        int units = op.type().shape().dim(1);
        bias.ifPresent(table -> block.loop("u", units, (unit, u) -> unit.store(sums, u, load(table, u))));
        int first = bias.isPresent() ? units : 0;
        block.loop("u", imm(first), imm(sums.elements()), 1, (unit, u) -> unit.store(sums, u, imm(0f)));
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
                one.loop("k", imm(part.length()), imm(padded), 1, (inner, k) -> {
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
        return new Kernel(
                name,
                pointers,
                List.of(INT32, INT32, INT32),
                List.of(),
                KernelSheet.text((out, html) -> {
                    if (integers.isPresent()) {
                        int span = integers.get().span();
                        Jteblocks_fixedGenerated.render(out, html, name, bits, hasZeroPoints, span);
                    } else {
                        JteblocksGenerated.render(out, html, name, bits, hasZeroPoints);
                    }
                }),
                List.of());
    }
}
