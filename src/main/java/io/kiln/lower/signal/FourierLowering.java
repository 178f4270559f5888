// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.signal;

import static io.kiln.base.DType.FLOAT32;
import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.INT32;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.mul;

import io.kiln.base.DType;
import io.kiln.ir.arith.FourierRoots;
import io.kiln.ir.op.signal.SignalFft;
import io.kiln.ir.type.Shape;
import io.kiln.kernels.portable.signal.JtefftGenerated;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.OperatorBuffers;
import io.kiln.lower.RowDependency;
import io.kiln.lower.Rows;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import io.kiln.tir.Intrinsic;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelSheet;
import java.util.ArrayList;
import java.util.List;

/** {@link SignalFft}: one call of the kernel {@code portable/signal/fft} for each vector, in the memory of the result. */
final class FourierLowering {
    private static final Intrinsic NEXT =
            Intrinsic.inFile("portable/signal/kiln_fft_next", List.of(INT32, INT32), INT32);

    private static final Intrinsic PRODUCTS_16 =
            Intrinsic.inFile("portable/signal/kiln_products_16", List.of(INT32, INT32, INT32, INT32), INT32);

    private static final Intrinsic PRODUCTS_32 =
            Intrinsic.inFile("portable/signal/kiln_products_32", List.of(INT32, INT32, INT32, INT32), INT32);

    private static final Intrinsic PRODUCTS_FLOAT = Intrinsic.inFile(
            "portable/signal/kiln_products_float", List.of(FLOAT32, FLOAT32, FLOAT32, FLOAT32), FLOAT32);

    private FourierLowering() {}

    static LoweredOperator lower(FusedOperator op, SignalFft fft, Tables tables, OperatorBuffers buffers, Rows rows) {
        DType dtype = op.type().dtype();
        Shape in = op.rootTypes().get(0).shape();
        int points = fft.length() / 2;
        List<Double> passes = new ArrayList<>();
        for (int i = 0; i < Math.max(1, 3 * points / 4); i++) {
            passes.add(FourierRoots.passPhase(i, points, fft.inverse()));
        }
        List<Double> split = new ArrayList<>();
        for (int k = 1; k <= points / 2; k++) {
            split.add(FourierRoots.splitPhase(k, points, fft.inverse()));
        }
        Buffer roots = table(tables, "roots", dtype, passes);
        Buffer splitRoots = table(tables, "split_roots", dtype, split);
        BlockBuilder body = Nests.vectors(vectors(op.type().shape()), rows, (block, from, to) -> {
            Buffer data = block.view("data", buffers.argument(0), mul(from, in.dim(-1)));
            Buffer result = block.mutableView(
                    "result", buffers.output(), mul(to, op.type().shape().dim(-1)));
            List<Expr> scalars = fft.inverse() ? List.of(imm(points)) : List.of(imm(in.dim(-1)), imm(points));
            block.call(kernel(dtype, fft.inverse()), List.of(result, data, roots, splitRoots), scalars);
        });
        RowDependency same = RowDependency.same(Rows.count(op.type().shape()));
        return Nests.operator(op, buffers, tables, rows, List.of(same), body.build(), "radix 4");
    }

    /** The shape that has one element for each vector. */
    private static Shape vectors(Shape shape) {
        List<Integer> dims = new ArrayList<>(shape.dims());
        dims.set(dims.size() - 1, 1);
        return new Shape(dims);
    }

    /** A table of complex numbers, each a pair of real and imaginary part. */
    private static Buffer table(Tables tables, String name, DType dtype, List<Double> phases) {
        double[] parts = phases.stream()
                .flatMap(phase -> List.of(FourierRoots.real(phase), FourierRoots.imaginary(phase)).stream())
                .mapToDouble(Double::doubleValue)
                .toArray();
        if (dtype.isFloat()) {
            float[] values = new float[parts.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = (float) parts[i];
            }
            return tables.add(name, values);
        }
        int bits = Byte.SIZE * dtype.bytes() - 1;
        int[] values = new int[parts.length];
        for (int i = 0; i < values.length; i++) {
            values[i] = FourierRoots.fraction(parts[i], bits);
        }
        return tables.add(name, dtype, values);
    }

    /** The kernel for a type: result, data, factors of the passes, factors that take even and odd apart; samples given, n. */
    private static Kernel kernel(DType dtype, boolean inverse) {
        Intrinsic products = dtype.isFloat() ? PRODUCTS_FLOAT : dtype == INT16 ? PRODUCTS_16 : PRODUCTS_32;
        String name = (inverse ? "kiln_irfft_" : "kiln_rfft_") + products.name().substring("kiln_products_".length());
        Pointer in = Pointer.in(dtype);
        return new Kernel(
                name,
                List.of(Pointer.out(dtype), in, in, in),
                inverse ? List.of(INT32) : List.of(INT32, INT32),
                List.of(),
                KernelSheet.text(
                        (out, html) -> JtefftGenerated.render(out, html, name, dtype, products.name(), inverse)),
                List.of(NEXT, products));
    }
}
