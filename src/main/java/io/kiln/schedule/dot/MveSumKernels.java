// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dot;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.lower.SumKernels;
import io.kiln.lower.Tables;
import io.kiln.schedule.mve.MveText;
import io.kiln.schedule.parts.ShortDots;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** {@link SumKernels} by MVE: 16 products of bytes or 8 of int16 at a time, four sums rescaled together. */
record MveSumKernels() implements SumKernels {
    private static final int COLUMNS = 8;

    private static final Kernel RING = Kernel.inFile(
            "mve/kiln_mve_columns",
            List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.in(INT32), Pointer.out(INT32)),
            List.of(INT32, INT32, INT32));

    private static final Kernel SHORT_SUMS = Kernel.inFile(
            "mve/kiln_mve_short_sums",
            List.of(Pointer.in(INT16), Pointer.in(INT8), Pointer.out(INT32)),
            List.of(INT32, INT32));

    private static final KernelText RESCALE = KernelText.of("mve/rescale_sums");

    @Override
    public Optional<Dots> dots(long bound, long least) {
        return bound <= Integer.MAX_VALUE ? Optional.of(new MveSums()) : Optional.empty();
    }

    @Override
    public Rescaler rescaler(Group group, Tables tables, String name) {
        Buffer by = tables.add(name, INT32, SumKernels.multipliers(group.by()));
        return (code, count, sums, results) -> code.call(
                kernel(group),
                List.of(sums, by, results),
                List.of(Exprs.imm(group.by().size()), Exprs.imm(count), Exprs.imm(group.zeroPoint())));
    }

    private static Kernel kernel(Group group) {
        String name = "kiln_mve_rescale_" + group.result().name().toLowerCase(Locale.ROOT);
        boolean isByte = group.result() == Result.BYTE;
        boolean isAdded = group.result() == Result.SHORT_ADDED;
        return new Kernel(
                name,
                List.of(Pointer.in(INT32), Pointer.in(INT32), Pointer.out(isByte ? INT8 : INT16)),
                List.of(INT32, INT32, INT32),
                List.of(),
                RESCALE.with("NAME", name)
                        .with("RESULT", isByte ? "int8_t" : "int16_t")
                        .with("INSTRUCTIONS", MveText.lines(finish(group.result())))
                        .with("OFFSET", isByte ? "zero_point" : isAdded ? "*out" : "0")
                        .with("LOW", isByte ? "-128" : "-32768")
                        .with("HIGH", isByte ? "127" : "32767")
                        .text(),
                List.of());
    }

    @Override
    public Dots wideDots() {
        return new ShortDots(SHORT_SUMS, INT8, 4, 8);
    }

    /** Instructions from a rescaled sum to the result. */
    private static String finish(Result result) {
        return switch (result) {
            case SHORT -> "vqmovnb.s32 q0, q0\nvstrh.32 q0, [%[out]], #8\n";
            case SHORT_ADDED -> """
                    vqmovnb.s32 q0, q0
                    vmovlb.s16 q0, q0
                    vldrh.s32 q1, [%[out]]
                    vadd.i32 q0, q0, q1
                    vqmovnb.s32 q0, q0
                    vstrh.32 q0, [%[out]], #8
                    """;
            case BYTE -> """
                    vqadd.s32 q0, q0, %[zero]
                    vqmovnb.s32 q0, q0
                    vqmovnb.s16 q0, q0
                    vstrb.32 q0, [%[out]], #4
                    """;
        };
    }

    @Override
    public boolean takesColumns(int columns) {
        return true;
    }

    @Override
    public int paddedColumns(int columns) {
        return (columns + COLUMNS - 1) / COLUMNS * COLUMNS;
    }

    @Override
    public int columnsOfBlock(int columns, int first) {
        return COLUMNS;
    }

    @Override
    public void columns(BlockBuilder code, Ring ring, Buffer state, Buffer sums) {
        code.call(
                RING,
                List.of(state, ring.weights(), ring.begin(), sums),
                List.of(Exprs.imm(ring.columns()), ring.oldest(), Exprs.imm(ring.rows())));
    }
}
