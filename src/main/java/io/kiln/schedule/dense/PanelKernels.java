// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.dense;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.base.DType.INT64;

import io.kiln.base.DType;
import io.kiln.kernels.dense.Jtematrix_rowGenerated;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.MatrixKernel;
import io.kiln.lower.PanelSums;
import io.kiln.lower.Tables;
import io.kiln.schedule.convolution.BlockedPanelSums;
import io.kiln.target.CpuFeatures;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.List;
import java.util.Optional;

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
            return new Kernel(
                    name,
                    List.of(Pointer.in(INT16), Pointer.in(INT16), Pointer.out(INT64)),
                    List.of(INT32, INT32),
                    List.of(),
                    KernelSheet.text((out, html) -> Jtematrix_rowGenerated.render(out, html, name, columns)),
                    List.of(Intrinsics.FROM_HALVES));
        }
    }
}
