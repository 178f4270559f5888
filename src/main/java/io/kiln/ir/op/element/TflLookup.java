// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.type.TensorType;
import java.util.List;

/**
 * A function of int8 as a table of all 256 values: {@code table[data + 128]}. Arguments: data, table (a vector of 256
 * elements; the result has their type).
 */
public record TflLookup() implements Op {
    /** Number of elements of the table. */
    public static final int SIZE = 256;

    @Override
    public String name() {
        return "tfl.lookup";
    }

    @Override
    public int arity() {
        return 2;
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.dtype("data of tfl.lookup", args.get(0), DType.INT8);
        Check.rank("table", args.get(1), 1);
        Check.that(
                args.get(1).shape().dim(0) == SIZE,
                "the table of tfl.lookup must have " + SIZE + " elements, not "
                        + args.get(1).shape().text());
        return new TensorType(args.get(0).shape(), args.get(1).dtype());
    }
}
