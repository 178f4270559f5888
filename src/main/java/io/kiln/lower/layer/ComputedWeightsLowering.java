// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;
import static io.kiln.tir.Exprs.sub;

import io.kiln.base.DType;
import io.kiln.ir.Arg;
import io.kiln.lower.Epilogue;
import io.kiln.lower.FusedOperator;
import io.kiln.lower.LoweredOperator;
import io.kiln.lower.Nests;
import io.kiln.lower.RootLowering;
import io.kiln.lower.Rows;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.Optional;

/**
 * Convolutions and fully connected layers whose weights are computed at run time: for each element a loop over the taps
 * inside the input, reading weights in the layout of the operator that computed them.
 */
public final class ComputedWeightsLowering extends RootLowering {
    private static final int WEIGHT = 1;

    private final LayerGeometry geometry;
    private final Buffer data;
    private final Buffer weights;
    private final Optional<Buffer> bias;
    private final DType sumType;
    private final Epilogue epilogue;

    public ComputedWeightsLowering(FusedOperator op) {
        super(op);
        this.geometry = LayerGeometry.of(op);
        this.data = buffers.argument(0);
        this.weights = buffers.argument(WEIGHT);
        this.bias = op.bias().map(b -> buffers.tables().add("bias", b.type().dtype(), b.data()));
        long bound = bound();
        this.sumType = op.sumType() == DType.INT32 && bound > Integer.MAX_VALUE ? DType.INT64 : op.sumType();
        this.epilogue = new Epilogue(op, bound, buffers.tables());
    }

    /** Whether an operator is a layer with computed weights. */
    public static boolean suits(FusedOperator op) {
        return op.root().args().get(WEIGHT) instanceof Arg.Ref;
    }

    /** Largest magnitude of an accumulator of integers. */
    private long bound() {
        if (op.sumType().isFloat()) {
            return 0;
        }
        long largestBias = 0;
        if (op.bias().isPresent()) {
            for (int o = 0; o < geometry.channels(); o++) {
                largestBias =
                        Math.max(largestBias, Math.abs(op.bias().orElseThrow().integer(o)));
            }
        }
        long product = largest(0) * largest(WEIGHT);
        return largestBias + product * geometry.taps();
    }

    /** Largest magnitude of an argument's elements less their zero point. */
    private long largest(int argument) {
        DType dtype = op.rootTypes().get(argument).dtype();
        return Math.max(dtype.max() - zeroPoint(argument), zeroPoint(argument) - dtype.min());
    }

    private int zeroPoint(int argument) {
        return (int) op.root().constant(2 + argument).integer(0);
    }

    /** Lowers to loops over a range of rows. */
    public LoweredOperator lower(Rows rows) {
        BlockBuilder body = new BlockBuilder();
        rows.eachLine(body, geometry.output(), (row, n, y) -> row(row, rows, n, y));
        long macs = geometry.output().elements() * geometry.taps();
        return Nests.operator(buffers, rows, Nests.allRows(op), body.build(), "computed_weights")
                .executing(macs);
    }

    private void row(BlockBuilder block, Rows rows, Expr n, Expr y) {
        LayerGeometry.Taps ky = geometry.rows(block, y);
        int width = geometry.output().dim(2);
        int height = geometry.output().dim(1);
        block.loop("x", width, (column, x) -> {
            LayerGeometry.Taps kx = geometry.columns(column, x);
            Expr line = add(mul(n, height), rows.outputLine(y));
            Expr pixel = column.let("pixel", mul(add(mul(line, width), x), geometry.channels()));
            column.loop("o", geometry.channels(), (channel, o) -> {
                Expr.Var sum = channel.mutable("sum", start(o));
                channel.loop("ky", ky.begin(), ky.end(), (outer, i) -> {
                    Expr line0 = add(mul(n, geometry.input().dim(1)), ky.input().apply(i));
                    outer.loop(
                            "kx",
                            kx.begin(),
                            kx.end(),
                            (inner, j) -> tap(
                                    inner,
                                    sum,
                                    o,
                                    add(
                                            mul(line0, geometry.input().dim(2)),
                                            kx.input().apply(j)),
                                    add(
                                            mul(ky.kernel().apply(i), geometry.kernelW()),
                                            kx.kernel().apply(j))));
                });
                epilogue.store(channel, "_out", sum, o, buffers.output(), add(pixel, o));
            });
        });
    }

    private Expr start(Expr o) {
        Expr zero = sumType.isFloat() ? imm(0.0f) : imm(0, sumType);
        return bias.map(b -> cast(sumType, load(b, o))).orElse(zero);
    }

    /** Adds the products of one tap. */
    private void tap(BlockBuilder block, Expr.Var sum, Expr o, Expr pixel, Expr tap) {
        Expr first = block.let("first", add(mul(pixel, geometry.input().dim(3)), geometry.firstInput(o)));
        Expr weight = block.let("weight", geometry.firstWeight(o, tap));
        block.loop("c", geometry.depth(), (inner, c) -> {
            Expr product = mul(value(data, 0, add(first, c)), value(weights, WEIGHT, add(weight, c)));
            inner.assign(sum, add(sum, cast(sumType, product)));
        });
    }

    private Expr value(Buffer buffer, int argument, Expr index) {
        Expr value = load(buffer, index);
        return sumType.isFloat() ? value : sub(value, imm(zeroPoint(argument)));
    }
}
