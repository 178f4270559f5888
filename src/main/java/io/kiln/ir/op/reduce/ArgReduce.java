// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.reduce;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Reduction;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;

/**
 * Index of the first largest or smallest element along a dimension, as int32. Argument: data.
 *
 * @param largest whether it is the largest
 * @param axis the dimension, from 0; it is removed
 */
public record ArgReduce(boolean largest, int axis) implements Reduction {
    @Override
    public String name() {
        return largest ? "argmax" : "argmin";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("axis", List.of(axis), "keepdims", 0, "select_last_index", 0);
    }

    @Override
    public List<Integer> axes() {
        return List.of(axis);
    }

    @Override
    public boolean keepDims() {
        return false;
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.ordered(this, args.get(0));
        Check.elements(this, args.get(0));
        Shape shape = Reduce.reduced(args.get(0).shape(), List.of(axis), false);
        return new TensorType(shape, DType.INT32);
    }
}
