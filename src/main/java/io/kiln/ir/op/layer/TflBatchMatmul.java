// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.layer;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;

/**
 * Products of matrices, one for each index of the dimensions before the last two, which broadcast: {@code out[.., i, j]
 * = sum over k of (a[.., i, k] - aZeroPoint) * (b[.., k, j] - bZeroPoint)}. Relay's operators of this kind support only
 * rank 3. Arguments: a, b, zero point of a, zero point of b (both 0 for float32).
 *
 * <p>Integers are summed as TensorFlow Lite's reference_ops::BatchMatMul does: int8 as int32, int16 as int64.
 *
 * @param transposeA whether the matrices of a are (k, i)
 * @param transposeB whether the matrices of b are (j, k)
 */
public record TflBatchMatmul(boolean transposeA, boolean transposeB) implements Op {
    public static final Signature<TflBatchMatmul> SIGNATURE = Signature.of(TflBatchMatmul.class, "tfl.batch_matmul")
            .data("a", DType.INT8, DType.INT16, DType.FLOAT32)
            .data("b", operand -> operand.like("a"))
            .number("zero point of a")
            .number("zero point of b")
            .attributes(
                    Attribute.truth("transpose_a", TflBatchMatmul::transposeA),
                    Attribute.truth("transpose_b", TflBatchMatmul::transposeB),
                    TflBatchMatmul::new)
            .traits(Trait.TAKES_CLIP, Trait.ACCUMULATES)
            .result(TflBatchMatmul::result);

    @Override
    public Card<TflBatchMatmul> card() {
        return SIGNATURE.of(this);
    }

    private static final int MAX_RANK = 5;

    /** Number of products in a sum. */
    public int depth(Shape a) {
        return transposeA ? a.dim(-2) : a.dim(-1);
    }

    private static Shape batch(Shape shape) {
        return new Shape(shape.dims().subList(0, shape.rank() - 2));
    }

    private static DType sumType(DType dtype) {
        return switch (dtype) {
            case INT8 -> DType.INT32;
            case INT16 -> DType.INT64;
            default -> dtype;
        };
    }

    private TensorType result(List<TensorType> args) {
        Shape a = args.get(0).shape();
        Shape b = args.get(1).shape();
        DType dtype = args.get(0).dtype();
        Check.that(
                a.rank() >= 2 && a.rank() <= MAX_RANK && b.rank() >= 2 && b.rank() <= MAX_RANK,
                "matrices " + a.text() + " and " + b.text() + " must have ranks from 2 to " + MAX_RANK);
        int bDepth = transposeB ? b.dim(-1) : b.dim(-2);
        Check.that(
                depth(a) == bDepth,
                "matrices of " + a.text() + " and " + b.text() + " do not fit: " + depth(a) + " is not " + bDepth);
        List<Integer> dims = new ArrayList<>(Check.broadcast(batch(a), batch(b)).dims());
        dims.add(transposeA ? a.dim(-1) : a.dim(-2));
        dims.add(transposeB ? b.dim(-2) : b.dim(-1));
        return new TensorType(new Shape(dims), sumType(dtype));
    }
}
