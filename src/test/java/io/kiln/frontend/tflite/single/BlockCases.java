// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** Operators that move blocks between space, depth and batch. */
final class BlockCases {
    static final OperatorCases SPACE_TO_DEPTH = OperatorCases.of("SPACE_TO_DEPTH", d -> depth(d, true));
    static final OperatorCases DEPTH_TO_SPACE = OperatorCases.of("DEPTH_TO_SPACE", d -> depth(d, false));

    static final OperatorCases SPACE_TO_BATCH = OperatorCases.of("SPACE_TO_BATCH_ND", d -> {
        int[] block = {d.between(1, 3), d.between(1, 3)};
        int[] padded = {block[0] * d.between(1, 3), block[1] * d.between(1, 3)};
        int[] widths = {d.between(0, Math.min(2, padded[0] - 1)), 0, d.between(0, Math.min(2, padded[1] - 1)), 0};
        int batch = d.between(1, 2);
        int depth = d.between(1, 4);
        TensorSpec x = d.tensor(
                d.oneOf(TensorType.INT8, TensorType.FLOAT32),
                batch,
                padded[0] - widths[0],
                padded[1] - widths[2],
                depth);
        batch(d, x, BuiltinOperator.SPACE_TO_BATCH_ND, block, widths);
    });

    static final OperatorCases BATCH_TO_SPACE = OperatorCases.of("BATCH_TO_SPACE_ND", d -> {
        int[] block = {d.between(1, 3), d.between(1, 3)};
        int batch = d.between(1, 2);
        int[] size = {d.between(1, 3), d.between(1, 3)};
        int depth = d.between(1, 4);
        int[] crops = {d.between(0, block[0] * size[0] - 1), 0, 0, d.between(0, block[1] * size[1] - 1)};
        TensorSpec x = d.tensor(
                d.oneOf(TensorType.INT8, TensorType.FLOAT32), batch * block[0] * block[1], size[0], size[1], depth);
        batch(d, x, BuiltinOperator.BATCH_TO_SPACE_ND, block, crops);
    });

    static final List<OperatorCases> ALL = List.of(SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH, BATCH_TO_SPACE);

    private BlockCases() {}

    private static void depth(Draw d, boolean toDepth) {
        int block = d.between(1, 3);
        int[] small = {d.between(1, 2), d.between(1, 4), d.between(1, 4), d.between(1, 4)};
        int[] deep = {small[0], small[1], small[2], small[3] * block * block};
        int[] wide = {small[0], small[1] * block, small[2] * block, small[3]};
        TensorSpec x = d.tensor(d.oneOf(TensorType.INT8, TensorType.FLOAT32), toDepth ? wide : deep);
        d.input(x);
        byte options = toDepth ? BuiltinOptions.SpaceToDepthOptions : BuiltinOptions.DepthToSpaceOptions;
        int builtin = toDepth ? BuiltinOperator.SPACE_TO_DEPTH : BuiltinOperator.DEPTH_TO_SPACE;
        d.compute(d.like(x), builtin, 1, Options.table(options, Field.int32(0, block)));
    }

    private static void batch(Draw d, TensorSpec x, int builtin, int[] block, int[] edges) {
        d.input(x);
        d.add(TensorSpec.int32("block", block));
        d.add(MovementOperators.paddings(edges));
        d.compute(d.like(x), builtin, 2, Options.none());
    }
}
