// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.layer;

import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.shr;

import io.kiln.ir.op.layer.Lstm;
import io.kiln.lower.Intrinsics;
import io.kiln.lower.element.ElementFunction;
import io.kiln.tir.Expr;
import java.util.List;

/** The functions and quotients of {@link Lstm.Arithmetic#LIBRARY}. */
final class LibraryGates {
    static final ElementFunction LOGISTIC =
            ElementFunction.fitting((block, x) -> new Expr.Call(Intrinsics.LOGISTIC_SHORT, List.of(x.get(0))));

    private LibraryGates() {}

    /** The hyperbolic tangent of numbers with some integer bits. */
    static ElementFunction tanh(int integerBits) {
        return ElementFunction.fitting(
                (block, x) -> new Expr.Call(Intrinsics.TANH_SHORT, List.of(x.get(0), imm(integerBits))));
    }

    /** A product of two int16 divided by a power of two; halves round away from zero. */
    static Expr quotient(Expr product, int bits) {
        Expr half = add(shr(product, imm(Integer.SIZE - 1)), 1L << (bits - 1));
        return shr(add(product, half), imm(bits));
    }
}
