// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Slices with strides, with all that their masks can say. */
final class StridedSliceCases {
    static final OperatorCases STRIDED_SLICE = OperatorCases.of("STRIDED_SLICE", d -> {
        TensorSpec x = d.tensor(type(d), d.shape(1, 4));
        int rank = x.rank();
        int[] begin = new int[rank];
        int[] end = new int[rank];
        int[] strides = new int[rank];
        int beginMask = d.coin() ? d.between(0, 15) : 0;
        int endMask = d.coin() ? d.between(0, 15) : 0;
        int shrink = d.coin() ? d.between(0, 15) : 0;
        for (int i = 0; i < rank; i++) {
            int size = x.shape().get(i);
            boolean shrinks = (shrink >> i & 1) != 0;
            boolean backwards = !shrinks && d.between(1, 4) == 1;
            int first = d.between(0, size - 1);
            int last = shrinks ? first : d.between(first, size - 1);
            strides[i] = (shrinks ? 1 : d.between(1, 2)) * (backwards ? -1 : 1);
            begin[i] = backwards ? last : first;
            int behind = backwards ? first - 1 : last + 1;
            end[i] = behind < 0 ? -size - 1 : behind;
            begin[i] -= d.coin() ? size : 0;
            beginMask &= shrinks ? ~(1 << i) : ~0;
        }
        d.input(x);
        d.add(TensorSpec.int32("begin", begin));
        d.add(TensorSpec.int32("end", end));
        d.add(TensorSpec.int32("strides", strides));
        Options options = Options.table(
                BuiltinOptions.StridedSliceOptions,
                Field.int32(0, beginMask & (1 << rank) - 1),
                Field.int32(1, endMask & (1 << rank) - 1),
                Field.int32(4, shrink & (1 << rank) - 1));
        d.compute(d.like(x), BuiltinOperator.STRIDED_SLICE, 2, options);
    });

    /** New dimensions, an ellipsis, and fewer indices than there are dimensions. */
    static final OperatorCases STRIDED_SLICE_MASKS = OperatorCases.of("STRIDED_SLICE_MASKS", d -> {
        TensorSpec x = d.tensor(type(d), d.shape(1, 3));
        int rank = x.rank();
        int whole = d.coin() ? d.between(1, rank) : 0;
        int from = d.between(0, rank - whole);
        boolean isLeftOut = from + whole == rank && whole > 0 && d.coin();
        Masked slice = new Masked(d);
        for (int axis = 0; axis < rank; axis++) {
            slice.newAxes();
            if (whole == 0 || axis != from) {
                slice.index(x.shape().get(axis));
            } else {
                slice.whole(isLeftOut);
                axis += whole - 1;
            }
        }
        if (!isLeftOut) {
            slice.newAxes();
        }
        slice.finish(x);
    });

    static final List<OperatorCases> ALL = List.of(STRIDED_SLICE, STRIDED_SLICE_MASKS);

    private StridedSliceCases() {}

    private static byte type(Draw d) {
        return d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16, TensorType.INT32);
    }

    /** The lists and masks of a slice while they grow. */
    private static final class Masked {
        private static final int END = 1;
        private static final int ELLIPSIS = 2;
        private static final int NEW_AXIS = 3;
        private static final int SHRINK = 4;

        private final Draw d;
        private final List<Integer> begin = new ArrayList<>();
        private final List<Integer> end = new ArrayList<>();
        private final int[] masks = new int[SHRINK + 1];

        /** TensorFlow Lite slices five dimensions at most, new ones counted. */
        private int most = 2;

        Masked(Draw d) {
            this.d = d;
        }

        void newAxes() {
            while (most > 0 && d.between(1, 4) == 1) {
                most--;
                add(NEW_AXIS, d.between(-3, 3), d.between(-3, 3), true);
                masks[SHRINK] |= d.coin() ? 1 << (begin.size() - 1) : 0;
            }
        }

        void index(int size) {
            int first = d.between(0, size - 1);
            int last = d.between(first, size - 1);
            boolean shrinks = d.between(1, 3) == 1;
            boolean toEnd = d.between(1, 3) == 1;
            add(END, d.coin() ? first : first - size, last + 1, toEnd);
            masks[SHRINK] |= shrinks ? 1 << (begin.size() - 1) : 0;
        }

        void whole(boolean isLeftOut) {
            if (!isLeftOut) {
                add(ELLIPSIS, d.between(0, 2), d.between(0, 2), true);
            }
        }

        private void add(int mask, int first, int behind, boolean counts) {
            masks[mask] |= counts ? 1 << begin.size() : 0;
            begin.add(first);
            end.add(behind);
        }

        void finish(TensorSpec x) {
            int[] ones = new int[begin.size()];
            Arrays.fill(ones, 1);
            d.input(x);
            d.add(TensorSpec.int32("begin", begin));
            d.add(TensorSpec.int32("end", end));
            d.add(TensorSpec.int32("strides", ones));
            Field[] fields = new Field[masks.length];
            Arrays.setAll(fields, i -> Field.int32(i, masks[i]));
            Options options = Options.table(BuiltinOptions.StridedSliceOptions, fields);
            d.compute(d.like(x), BuiltinOperator.STRIDED_SLICE, 2, options);
        }
    }
}
