// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;
import static io.kiln.base.DType.INT8;
import static io.kiln.tir.Exprs.imm;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.kernels.dense.Jtedsp_matrix_rowGenerated;
import io.kiln.kernels.dense.Jtematrix_rowGenerated;
import io.kiln.kernels.recurrent.Jtemve_sumsGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.MatrixKernel;
import io.kiln.lower.PanelSums;
import io.kiln.lower.SumKernels;
import io.kiln.lower.Tables;
import io.kiln.schedule.convolution.BlockedPanelSums;
import io.kiln.schedule.convolution.FpuBlocks;
import io.kiln.schedule.convolution.FpuLimits;
import io.kiln.schedule.parts.BlockDots;
import io.kiln.schedule.parts.PanelPacking;
import io.kiln.schedule.parts.WindowRows;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/** The micro-kernels for products of computed matrices, by core. */
public final class PanelKernels {
    private PanelKernels() {}

    /** The core's kernel, if it has one. */
    public static Optional<PanelSums> of(CpuFeatures features) {
        if (features.hasMve()) {
            return Optional.of(new MveSums());
        }
        if (features.hasDsp()) {
            return Optional.of(new DspPanelSums());
        }
        return BlockedPanelSums.isThere(features) ? Optional.of(BlockedPanelSums.of(features)) : Optional.empty();
    }

    /** The core's kernel for matrices of int16 or float, if it has one. */
    public static Optional<MatrixKernel> of(CpuFeatures features, DType values, Tables tables) {
        return switch (values) {
            case INT16 -> ofInt16(features);
            case FLOAT32 -> ofFloat(features, tables);
            default -> Optional.empty();
        };
    }

    private static Optional<MatrixKernel> ofInt16(CpuFeatures features) {
        if (features.hasDsp()) {
            return Optional.of(features.hasMve() ? Int16Matrix.MVE : Int16Matrix.DSP);
        }
        return BlockedPanelSums.isThere(features)
                ? Optional.of(new Int16Matrix(BlockedMatrix.kernel(features), BlockedMatrix.columns(features), 1))
                : Optional.empty();
    }

    /** Without floating-point instructions, the library's functions take nearly all the time. */
    private static Optional<MatrixKernel> ofFloat(CpuFeatures features, Tables tables) {
        if (!features.hasFpu() || !features.hasDsp()) {
            return Optional.empty();
        }
        return Optional.of(features.hasMve() ? new MveFloatMatrix() : new FpuMatrix(tables));
    }

    /** A row of int16 times some columns on cores without SIMD: each sum as two of 32 bits, which needs no long multiplication. */
    private static final class BlockedMatrix {
        private BlockedMatrix() {}

        /** Columns whose sums fit the registers that multiply. */
        static int columns(CpuFeatures features) {
            return features.hasLongMultiply() ? 4 : 2;
        }

        /** The kernel; pointers: row, panel with a value of each column in turn, sums; scalars: depth, blocks. */
        static Kernel kernel(CpuFeatures features) {
            int columns = columns(features);
            String name = "kiln_matrix_row_" + columns;
            return Kernel.of(
                    name,
                    Pointer.lastWritten(INT16, INT16, INT64),
                    2,
                    (out, html) -> Jtematrix_rowGenerated.render(out, html, name, columns),
                    Intrinsics.FROM_HALVES);
        }
    }

    /** Products of float matrices by {@link MveFloatKernel}: rows are pixels, and columns channels. */
    private record MveFloatMatrix() implements MatrixKernel {
        private static final MveFloatKernel KERNEL = new MveFloatKernel(3, 2);

        @Override
        public DType sum() {
            return DType.FLOAT32;
        }

        @Override
        public int rows() {
            return KERNEL.pixels();
        }

        @Override
        public int columns() {
            return KERNEL.channels();
        }

        @Override
        public int mostColumns() {
            return KERNEL.channels();
        }

        @Override
        public int step() {
            return KERNEL.step();
        }

        @Override
        public void emit(BlockBuilder code, Tile tile, Buffer rows, Buffer panel, Buffer sums) {
            code.loop("s", (long) tile.rows() * columns(), (each, s) -> each.store(sums, s, Exprs.imm(0f)));
            List<Buffer> inputs = IntStream.range(0, tile.rows())
                    .mapToObj(r -> code.view("row" + r, rows, Exprs.imm((long) r * tile.depth())))
                    .toList();
            KERNEL.call(code, inputs, panel, sums, Exprs.imm(tile.depth()));
        }
    }

    /** Products of float matrices by {@link FpuBlocks}: rows are pixels, and columns channels without a bias. */
    private static final class FpuMatrix implements MatrixKernel {
        private static final int ROWS = 4;
        private static final int COLUMNS = 4;
        private static final int MOST_COLUMNS = 8;

        private final Buffer biases;

        /** Adds the biases, which are 0. */
        FpuMatrix(Tables tables) {
            this.biases = tables.add("zeros", new float[MOST_COLUMNS]);
        }

        @Override
        public DType sum() {
            return DType.FLOAT32;
        }

        @Override
        public int rows() {
            return ROWS;
        }

        @Override
        public int columns() {
            return COLUMNS;
        }

        @Override
        public int mostColumns() {
            return MOST_COLUMNS;
        }

        @Override
        public int step() {
            return 1;
        }

        @Override
        public void emit(BlockBuilder code, Tile tile, Buffer rows, Buffer panel, Buffer sums) {
            code.call(
                    new FpuBlocks(tile.rows(), COLUMNS, 2, 0).kernel(FpuLimits.NONE),
                    List.of(rows, panel, biases, sums),
                    List.of(
                            imm(tile.depth()),
                            imm((long) tile.blocks() * COLUMNS),
                            imm(1),
                            imm(WindowRows.NEVER),
                            imm(tile.depth()),
                            imm(0),
                            imm(0),
                            imm(0),
                            imm(0),
                            imm(tile.blocks()),
                            imm(1)));
        }
    }

    /**
     * A row of int16 times blocks of columns, summed in 64 bits.
     *
     * @param kernel pointers: row, panel, sums; scalars: depth, blocks
     * @param columns of a block
     * @param step values of a column that follow each other
     */
    private record Int16Matrix(Kernel kernel, int columns, int step) implements MatrixKernel {
        private static final int MOST_COLUMNS = 16;

        /** By SMLALD. */
        static final Int16Matrix DSP = new Int16Matrix(
                Kernel.of(
                        "kiln_matrix_row",
                        Pointer.lastWritten(INT16, INT16, INT64),
                        2,
                        Jtedsp_matrix_rowGenerated::render),
                4,
                2);

        /** By VMLALDAVA. */
        static final Int16Matrix MVE = new Int16Matrix(
                Kernel.inFile(
                        "dense/kiln_mve_matrix_row", Pointer.lastWritten(INT16, INT16, INT64), List.of(INT32, INT32)),
                4,
                8);

        @Override
        public DType sum() {
            return INT64;
        }

        @Override
        public int rows() {
            return 1;
        }

        @Override
        public int mostColumns() {
            return MOST_COLUMNS;
        }

        @Override
        public void emit(BlockBuilder code, Tile tile, Buffer rows, Buffer panel, Buffer sums) {
            code.call(kernel, List.of(rows, panel, sums), List.of(Exprs.imm(tile.depth()), Exprs.imm(tile.blocks())));
        }
    }

    /** {@link PanelSums} by Arm's DSP instructions: columns less their zero point, widened to 16 bits, by {@link DspSums}. */
    record DspPanelSums() implements PanelSums {
        private static final DspSums SUMS = new DspSums(DspSums.Form.WIDE);

        private static final Kernel PACK =
                Kernel.inFile("dense/kiln_pack_wide", Pointer.lastWritten(INT8, INT8), Collections.nCopies(6, INT32));

        @Override
        public int columns() {
            return SUMS.rows();
        }

        @Override
        public int bytes(int depth) {
            return SUMS.bytes(depth);
        }

        @Override
        public int scale() {
            return 2;
        }

        @Override
        public boolean areCentred() {
            return true;
        }

        @Override
        public void pack(BlockBuilder code, Columns columns, Buffer values, Buffer panel) {
            code.call(
                    PACK,
                    List.of(values, panel),
                    List.of(
                            Exprs.imm(columns.depth()),
                            Exprs.imm(columns.count()),
                            Exprs.imm(columns.columnStep()),
                            Exprs.imm(columns.step()),
                            Exprs.imm(columns.zeroPoint()),
                            Exprs.imm(-columns.rowZeroPoint())));
        }

        @Override
        public void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums) {
            SUMS.emit(code, block, values, from, sums);
        }
    }

    /** Dot products of an int8 vector with blocks of four rows by VMLADAVA, 16 weights of each in turn. */
    record MveSums() implements SumKernels.Dots, PanelSums {
        private static final int ROWS = 4;
        private static final int STEP = 16;

        private static final PanelPacking PANEL = new PanelPacking(ROWS, STEP, STEP + " * column", "i", "value");

        private static final BlockDots SUMS = new BlockDots(kernel("kiln_mve_sums", INT8), INT8, ROWS, STEP);

        /** The kernel for vectors of int8 or int16: the vector, blocks of weights, sums; number of values, number of blocks. */
        static Kernel kernel(String name, DType data) {
            return Kernel.of(
                    name,
                    Pointer.lastWritten(data, INT8, INT32),
                    2,
                    (out, html) -> Jtemve_sumsGenerated.render(out, html, name, data == INT8));
        }

        @Override
        public int rows() {
            return ROWS;
        }

        @Override
        public Bytes pack(int rows, int count, SumKernels.Weights weights, IntUnaryOperator begin) {
            return SUMS.pack(rows, count, weights, begin);
        }

        @Override
        public int columns() {
            return ROWS;
        }

        @Override
        public int bytes(int count) {
            return PANEL.bytes(count);
        }

        @Override
        public void pack(BlockBuilder code, Columns columns, Buffer values, Buffer panel) {
            PANEL.emit(code, columns, values, panel);
        }

        @Override
        public void emit(BlockBuilder code, SumKernels.Block block, Buffer values, Expr from, Buffer sums) {
            SUMS.emit(code, block, values, from, sums);
        }
    }
}
