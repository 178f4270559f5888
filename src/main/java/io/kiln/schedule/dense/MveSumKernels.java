// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT8;

import io.kiln.ir.Group;
import io.kiln.kernels.recurrent.Jtemve_requantizeGenerated;
import io.kiln.lower.SumKernels;
import io.kiln.lower.Tables;
import io.kiln.schedule.parts.Int16Dots;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** {@link SumKernels} by MVE: 16 products of bytes or 8 of int16 at a time, four sums rescaled together. */
record MveSumKernels() implements SumKernels {
    private static final int COLUMNS = 8;

    private static final Kernel RING = Kernel.inFile(
            "recurrent/kiln_mve_columns",
            List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.in(INT32), Pointer.out(INT32)),
            List.of(INT32, INT32, INT32));

    private static final Kernel SHORT_SUMS = MveSums.kernel("kiln_mve_short_sums", INT16);

    @Override
    public Optional<Dots> dots(long bound, long least) {
        return bound <= Integer.MAX_VALUE ? Optional.of(new MveSums()) : Optional.empty();
    }

    @Override
    public Requantizer rescaler(Group group, Tables tables, String name) {
        Buffer by = tables.add(name, INT32, SumKernels.multipliers(group.by()));
        return (code, count, sums, results) -> code.call(
                kernel(group),
                List.of(sums, by, results),
                List.of(Exprs.imm(group.by().size()), Exprs.imm(count), Exprs.imm(group.zeroPoint())));
    }

    private static Kernel kernel(Group group) {
        String name = "kiln_mve_rescale_" + group.result().name().toLowerCase(Locale.ROOT);
        boolean isByte = group.result() == Result.BYTE;
        return new Kernel(
                name,
                List.of(Pointer.in(INT32), Pointer.in(INT32), Pointer.out(isByte ? INT8 : INT16)),
                List.of(INT32, INT32, INT32),
                List.of(),
                KernelSheet.text((out, html) -> Jtemve_requantizeGenerated.render(out, html, name, group.result())),
                List.of());
    }

    @Override
    public Dots wideDots() {
        return new Int16Dots(SHORT_SUMS, INT8, 4, 8);
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
