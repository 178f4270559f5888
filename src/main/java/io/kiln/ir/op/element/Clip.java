// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.element;

import io.kiln.base.DType;
import io.kiln.ir.op.Arguments;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Clamps values. Argument: data. For floats, NaN passes through, and limits of plus or minus the largest float have no
 * effect, not even on infinities.
 *
 * @param min smallest value of the result, in the data's own type
 * @param max largest value of the result
 */
public record Clip(double min, double max) implements Op {
    @Override
    public String name() {
        return "clip";
    }

    @Override
    public int arity() {
        return 1;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("a_min", min, "a_max", max);
    }

    @Override
    public Set<Trait> traits() {
        return Set.of();
    }

    @Override
    public Set<DType> dataTypes() {
        return Set.of(DType.INT8, DType.UINT8, DType.INT16, DType.INT32, DType.FLOAT32);
    }

    @Override
    public void check(Arguments args) {
        DType dtype = args.data().dtype();
        if (dtype == DType.FLOAT32) {
            boolean single = (float) min == min && (float) max == max;
            args.require(single, "limits of clip are not float32", "limits of the data's type");
        } else if (dtype.isInteger()) {
            args.require(
                    isWhole(dtype, min) && isWhole(dtype, max),
                    "limits of clip are " + min + " and " + max,
                    "whole numbers from " + dtype.min() + " to " + dtype.max());
        }
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.that(min <= max, "clip limits " + min + " and " + max + " are crossed");
        return args.get(0);
    }

    private static boolean isWhole(DType dtype, double value) {
        return value == Math.rint(value) && value >= dtype.min() && value <= dtype.max();
    }
}
