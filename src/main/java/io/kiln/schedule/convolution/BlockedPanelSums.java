// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.kernels.dense.Jteadd_beginGenerated;
import io.kiln.lower.PanelSums;
import io.kiln.lower.SumKernels;
import io.kiln.schedule.convolution.SumsKernel.Core;
import io.kiln.schedule.parts.PanelPacking;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** Dot products on cores without SIMD by {@link SumsKernel}: values times a block of columns or rows, known at run time or at build time. */
public final class BlockedPanelSums implements SumKernels.Dots, PanelSums {
    private final SumsKernel kernel;

    private BlockedPanelSums(SumsKernel kernel) {
        this.kernel = kernel;
    }

    /** For a core for which {@link #isThere} holds, with values of int8. */
    public static BlockedPanelSums of(CpuFeatures features) {
        return of(features, INT8);
    }

    /** The same with values of int8 or int16. */
    public static BlockedPanelSums of(CpuFeatures features, DType values) {
        if (features.family() == CpuFeatures.Family.RISCV) {
            return new BlockedPanelSums(new SumsKernel(Core.RV32, 1, 8, true, values));
        }
        return new BlockedPanelSums(
                features.hasLongMultiply()
                        ? new SumsKernel(Core.ARMV7_M, 1, 8, true, values)
                        : new SumsKernel(Core.ARMV6_M, 1, 4, false, values));
    }

    /** Whether there is a kernel for a core. */
    public static boolean isThere(CpuFeatures features) {
        return BlockedLoops.isThere(features);
    }

    private PanelPacking packing() {
        return new PanelPacking(
                kernel.channels(), 1, "column", "i", kernel.areWeightsMoved() ? "value ^ -128" : "value");
    }

    @Override
    public int rows() {
        return kernel.channels();
    }

    @Override
    public int columns() {
        return kernel.channels();
    }

    @Override
    public Bytes pack(int rows, int count, SumKernels.Weights weights, IntUnaryOperator begin) {
        int moved = kernel.areWeightsMoved() ? 128 : 0;
        ByteBuffer data = ByteBuffer.allocate(rows * bytes(count)).order(ByteOrder.LITTLE_ENDIAN);
        for (int first = 0; first < rows; first += rows()) {
            for (int row = first; row < first + rows(); row++) {
                data.putInt(begin.applyAsInt(row));
            }
            for (int i = 0; i < count; i++) {
                for (int row = first; row < first + rows(); row++) {
                    data.put((byte) (weights.get(row, i) + moved));
                }
            }
        }
        return Bytes.wrap(data.array());
    }

    @Override
    public int bytes(int depth) {
        return packing().bytes(depth);
    }

    @Override
    public void pack(BlockBuilder code, Columns columns, Buffer values, Buffer panel) {
        packing().emit(code, columns, values, panel);
    }

    @Override
    public void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums) {
        int step = kernel.channels();
        String name = "kiln_add_begin_" + step;
        Kernel begin = Kernel.of(
                name,
                Pointer.lastWritten(INT8, INT32),
                0,
                (out, html) -> Jteadd_beginGenerated.render(out, html, name, step));
        Buffer x = code.view("x", values, from);
        Expr first = block.first();
        code.loop("c", Exprs.imm(0), Exprs.imm(block.rows()), step, (each, c) -> {
            Expr at = Exprs.mul(Exprs.add(first, c), bytes(block.count()));
            Buffer panel = each.view("columns", block.weights(), at);
            Buffer weights = each.view("weights", panel, Exprs.imm((long) Integer.BYTES * step));
            Buffer some = each.mutableView("some", sums, c);
            each.call(kernel.kernel(), List.of(x, weights, some), List.of(Exprs.imm(0), Exprs.imm(block.count())));
            each.call(begin, List.of(panel, some), List.of());
        });
    }
}
