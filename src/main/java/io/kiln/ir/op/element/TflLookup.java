// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.TensorType;

/**
 * A function of int8 as a table of all 256 values: {@code table[data + 128]}. Arguments: data, table (a vector of 256
 * elements; the result has their type).
 */
public record TflLookup() implements Op {
    public static final Signature<TflLookup> SIGNATURE = Signature.of(TflLookup.class, "tfl.lookup")
            .data("data", DType.INT8)
            .constant("table", operand -> operand.rank(1).fits((what, type, op, args) -> fitTable(type)))
            .attributes(TflLookup::new)
            .result((op, args) ->
                    new TensorType(args.get(0).shape(), args.get(1).dtype()));

    @Override
    public Card<TflLookup> card() {
        return SIGNATURE.of(this);
    }

    /** Number of elements of the table. */
    public static final int SIZE = 256;

    private static void fitTable(TensorType table) {
        Check.that(
                table.shape().dim(0) == SIZE,
                "the table of tfl.lookup must have " + SIZE + " elements, not "
                        + table.shape().text());
    }
}
