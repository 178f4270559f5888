// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.arith.InterpolatedTable;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.TensorType;

/**
 * A function of int16 by interpolation in a table of 513 elements (LUTLookup in kernels/internal/common.h), see {@link
 * InterpolatedTable#at}. Arguments: data; table, a vector of int16. The result is int16.
 */
public record TflLookup16() implements Op {
    public static final Signature<TflLookup16> SIGNATURE = Signature.of(TflLookup16.class, "tfl.lookup16")
            .data("data", DType.INT16)
            .constant("table", operand -> operand.rank(1).fits((what, type, op, args) -> fitTable(type)), DType.INT16)
            .attributes(TflLookup16::new)
            // It stores what the table says: a limit has loops of its own.
            .traits()
            .result((op, args) -> args.get(0));

    @Override
    public Card<TflLookup16> card() {
        return SIGNATURE.of(this);
    }

    private static void fitTable(TensorType table) {
        Check.that(
                table.shape().dim(0) == InterpolatedTable.SIZE,
                "the table of tfl.lookup16 must have " + InterpolatedTable.SIZE + " elements, not "
                        + table.shape().text());
    }
}
