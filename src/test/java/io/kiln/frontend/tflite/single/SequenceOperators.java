// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;
import org.tensorflow.lite.schema.TensorType;

/** What attention over sequences needs. */
final class SequenceOperators {
    static final OperatorCases BATCH_MATMUL = OperatorCases.of("BATCH_MATMUL", d -> {
        byte type = d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT16);
        product(d, type, d.shape(0, 2), smallSizes(d), d.coin() && type != TensorType.INT8);
    });

    static final OperatorCases BATCH_MATMUL_REPEATED_INT8 = OperatorCases.of(
                    "BATCH_MATMUL_REPEATED_INT8", d -> product(d, TensorType.INT8, d.shape(1, 2), smallSizes(d), true))
            .withoutOracle("TensorFlow Lite leaves products 0 where a matrix of int8 is repeated for several others");

    /** Sizes with which micro-kernels have loops, remainders and several panels. */
    static final OperatorCases BATCH_MATMUL_INT8 = OperatorCases.of("BATCH_MATMUL_INT8", d -> {
        int[] sizes = {d.between(1, 7), d.between(1, 70), d.between(1, 75)};
        product(d, TensorType.INT8, d.shape(0, 2), sizes, false);
    });

    /** The same with tiles of several rows. */
    static final OperatorCases BATCH_MATMUL_INT16 =
            OperatorCases.of("BATCH_MATMUL_INT16", d -> product(d, TensorType.INT16, d.shape(0, 1), sizes(d), false));

    static final OperatorCases BATCH_MATMUL_FLOAT =
            OperatorCases.of("BATCH_MATMUL_FLOAT", d -> product(d, TensorType.FLOAT32, d.shape(0, 1), sizes(d), false));

    private static int[] smallSizes(Draw d) {
        return new int[] {d.between(1, 6), d.between(1, 9), d.between(1, 6)};
    }

    private static int[] sizes(Draw d) {
        return new int[] {d.between(1, 11), d.between(1, 40), d.between(1, 37)};
    }

    /** The sizes are rows, depth and columns. */
    private static void product(Draw d, byte type, int[] batch, int[] sizes, boolean repeats) {
        int rows = sizes[0];
        int depth = sizes[1];
        int columns = sizes[2];
        boolean adjX = d.coin();
        boolean adjY = d.coin();
        boolean repeatsLeft = d.coin();
        int[] other = batch.length > 0 && repeats ? d.broadcastsTo(batch) : batch;
        int[] aBatch = repeatsLeft ? other : batch;
        int[] bBatch = repeatsLeft ? batch : other;
        TensorSpec a = d.tensor(type, adjX ? join(aBatch, depth, rows) : join(aBatch, rows, depth));
        TensorSpec b = d.tensor(type, adjY ? join(bBatch, columns, depth) : join(bBatch, depth, columns));
        boolean isLeftConstant = d.coin();
        int left = isLeftConstant ? d.inputOrConstant(a) : d.input(a);
        int right = isLeftConstant ? d.input(b) : d.inputOrConstant(b);
        d.result(d.tensor(type));
        Options options = Options.table(BuiltinOptions.BatchMatMulOptions, Field.bool(0, adjX), Field.bool(1, adjY));
        d.operator(BuiltinOperator.BATCH_MATMUL, 3, options, left, right);
    }

    static final OperatorCases CUMSUM =
            OperatorCases.of("CUMSUM", d -> cumsum(d, d.oneOf(TensorType.FLOAT32, TensorType.INT32, TensorType.INT64)));

    static final OperatorCases CUMSUM_INT8 = OperatorCases.of("CUMSUM_INT8", d -> cumsum(d, TensorType.INT8))
            .withoutOracle("TensorFlow Lite has no kernel of int8");

    static final OperatorCases DYNAMIC_UPDATE_SLICE = OperatorCases.of("DYNAMIC_UPDATE_SLICE", d -> {
        byte type = d.oneOf(TensorType.INT8, TensorType.FLOAT32, TensorType.INT32, TensorType.INT64);
        TensorSpec x = d.tensor(type, d.shape(1, 4));
        List<Integer> part = x.shape().stream().map(d::upTo).toList();
        TensorSpec start = TensorSpec.of("start", d.oneOf(TensorType.INT32, TensorType.INT64), x.rank());
        d.inputOrConstant(x);
        d.input(d.like(x, part));
        if (d.coin()) {
            d.input(start, -2, 9);
        } else {
            d.add(d.constant(start));
        }
        d.compute(d.like(x), BuiltinOperator.DYNAMIC_UPDATE_SLICE, 2, Options.none());
    });

    static final List<OperatorCases> ALL = List.of(
            BATCH_MATMUL,
            BATCH_MATMUL_REPEATED_INT8,
            BATCH_MATMUL_INT8,
            BATCH_MATMUL_INT16,
            BATCH_MATMUL_FLOAT,
            CUMSUM,
            CUMSUM_INT8,
            DYNAMIC_UPDATE_SLICE);

    private SequenceOperators() {}

    private static void cumsum(Draw d, byte type) {
        TensorSpec x = d.tensor(type, d.shape(1, 5));
        int data = d.input(x);
        int axis = d.add(TensorSpec.int32("axis", d.between(-x.rank(), x.rank() - 1)));
        d.result(d.tensor(type));
        Options options = Options.table(BuiltinOptions.CumsumOptions, Field.bool(0, d.coin()), Field.bool(1, d.coin()));
        d.operator(BuiltinOperator.CUMSUM, 1, options, data, axis);
    }

    private static int[] join(int[] batch, int rows, int columns) {
        int[] shape = Arrays.copyOf(batch, batch.length + 2);
        shape[batch.length] = rows;
        shape[batch.length + 1] = columns;
        return shape;
    }
}
