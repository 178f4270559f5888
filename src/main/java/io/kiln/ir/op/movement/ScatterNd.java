// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.base.DType;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Trait;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The data with rows replaced by rows of the updates, or combined with them, one after the other. Arguments: data (rows, width); indices
 * (1, n) of int32, of which those out of range are clamped; updates (n, width) of the data's type.
 *
 * @param mode how a row and an update are combined
 */
public record ScatterNd(Mode mode) implements Op {
    /** How an element and its update are combined; all but {@code UPDATE} take float32 and int32, whose sums and products wrap around. */
    public enum Mode {
        UPDATE,
        ADD,
        MUL,
        MIN,
        MAX;

        /** Relay's name. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String name() {
        return "scatter_nd";
    }

    @Override
    public int arity() {
        return 3;
    }

    @Override
    public Map<String, Object> attributes() {
        return Check.attributes("mode", mode.text());
    }

    @Override
    public int operands() {
        return arity();
    }

    @Override
    public Set<Trait> traits() {
        return Set.of();
    }

    @Override
    public TensorType infer(List<TensorType> args) {
        Check.arity(this, args);
        Check.rank("data", args.get(0), 2);
        Check.rank("indices", args.get(1), 2);
        Check.dtype("indices", args.get(1), DType.INT32);
        Check.dtype("updates", args.get(2), args.get(0).dtype());
        if (mode != Mode.UPDATE) {
            Check.oneOf("data", args.get(0), Set.of(DType.FLOAT32, DType.INT32));
        }
        Check.elements(this, args.get(0));
        Shape data = args.get(0).shape();
        Shape indices = args.get(1).shape();
        Shape updates = args.get(2).shape();
        Check.that(
                indices.dim(0) == 1 && updates.equals(Shape.of(indices.dim(1), data.dim(1))),
                "scatter_nd: indices " + indices.text() + " and updates " + updates.text() + " do not fit "
                        + data.text());
        return args.get(0);
    }
}
