// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Indices, as int32, of the largest or smallest elements of each vector along the last dimension, in order; of equal elements the one of
 * the lower index comes first. Data with NaN gives indices of the data, in no order. Argument: data.
 *
 * @param k how many, from 1 to the size of the last dimension
 * @param isAscend whether they are the smallest
 */
public record Topk(int k, boolean isAscend) implements Op {
    @Override
    public String name() {
        return "topk";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes(
                "k", k, "axis", -1, "ret_type", "indices", "is_ascend", isAscend ? 1 : 0, "dtype", "int32");
    }

    @Override
    public Set<Trait> traits() {
        return Set.of();
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.ordered(this, args.get(0));
        Check.vectors(args.get(0));
        Shape data = args.get(0).shape();
        Check.that(
                k >= 1 && k <= data.dim(-1),
                "topk: k is " + k + ", but the vectors of " + data.text() + " are shorter");
        List<Integer> dims = new ArrayList<>(data.dims());
        dims.set(dims.size() - 1, k);
        return new TensorType(new Shape(dims), DType.INT32);
    }
}
