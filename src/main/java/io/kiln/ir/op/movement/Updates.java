// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op.movement;

import io.kiln.base.DType;
import io.kiln.ir.op.Attribute;
import io.kiln.ir.op.Card;
import io.kiln.ir.op.Check;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.Signature;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The operators that put elements into a tensor. */
public final class Updates {
    private Updates() {}

    /**
     * The data with rows replaced by rows of the updates, or combined with them, one after the other. Arguments: data (rows, width); indices
     * (1, n) of int32, of which those out of range are clamped; updates (n, width) of the data's type.
     *
     * @param mode how a row and an update are combined
     */
    public record ScatterNd(Mode mode) implements Op {
        private static final Set<DType> COMBINED = Set.of(DType.FLOAT32, DType.INT32);
        private static final Set<DType> SUMMED = Set.of(DType.FLOAT32, DType.INT32, DType.INT64);

        public static final Signature<ScatterNd> SIGNATURE = Signature.of(ScatterNd.class, "scatter_nd")
                .data("data", operand -> operand.rank(2))
                .data("indices", operand -> operand.rank(2), DType.INT32)
                .data("updates", operand -> operand.like("data"))
                .attributes(
                        Attribute.choice("mode", ScatterNd::mode, Mode::text, List.of(Mode.values())), ScatterNd::new)
                .traits()
                .result(ScatterNd::result);

        @Override
        public Card<ScatterNd> card() {
            return SIGNATURE.of(this);
        }

        /**
         * How an element and its update are combined; all but {@code UPDATE} take float32 and int32, whose sums and products wrap around, and
         * {@code ADD} takes int64 too.
         */
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

        private TensorType result(List<TensorType> args) {
            if (mode != Mode.UPDATE) {
                Check.oneOf("data", args.get(0), mode == Mode.ADD ? SUMMED : COMBINED);
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

    /**
     * The data with a part replaced by the update, at a position computed at run time (dynamic_update_slice.cc of
     * TensorFlow Lite Micro): along dimension d from {@code min(max(start[d], 0), data.dim(d) - update.dim(d))}, so that
     * the update lies inside.
     *
     * <p>Arguments: data; update, of the same type and rank and no larger; start, a vector of int32 or int64, one for each
     * dimension.
     */
    public record TflDynamicUpdateSlice() implements Op {
        public static final Signature<TflDynamicUpdateSlice> SIGNATURE = Signature.of(
                        TflDynamicUpdateSlice.class, "tfl.dynamic_update_slice")
                .data("data")
                .data("update", operand -> operand.like("data"))
                .data("start", DType.INT32, DType.INT64)
                .attributes(TflDynamicUpdateSlice::new)
                .traits()
                .result(TflDynamicUpdateSlice::result);

        @Override
        public Card<TflDynamicUpdateSlice> card() {
            return SIGNATURE.of(this);
        }

        /** Position of the vector of first indices among the arguments. */
        public static final int START = SIGNATURE.position("start");

        private TensorType result(List<TensorType> args) {
            Shape data = args.get(0).shape();
            Shape update = args.get(1).shape();
            Check.that(
                    args.get(START).shape().equals(Shape.of(data.rank())),
                    "the start " + args.get(START).shape().text() + " does not have one index for each dimension of "
                            + data.text());
            boolean fits = update.rank() == data.rank();
            for (int axis = 0; fits && axis < data.rank(); axis++) {
                fits = update.dim(axis) <= data.dim(axis);
            }
            Check.that(fits, "the update " + update.text() + " does not fit into " + data.text());
            return args.get(0);
        }
    }
}
