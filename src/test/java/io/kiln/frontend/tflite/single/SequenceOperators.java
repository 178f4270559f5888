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
        int[] batch = d.shape(0, 2);
        int rows = d.between(1, 6);
        int depth = d.between(1, 9);
        int columns = d.between(1, 6);
        boolean adjX = d.coin();
        boolean adjY = d.coin();
        boolean repeats = d.coin();
        boolean repeatsLeft = d.coin();
        int[] other = batch.length > 0 && repeats ? d.broadcastsTo(batch) : batch;
        int[] aBatch = repeatsLeft ? other : batch;
        int[] bBatch = repeatsLeft ? batch : other;
        TensorSpec a = d.tensor(type, adjX ? join(aBatch, depth, rows) : join(aBatch, rows, depth));
        TensorSpec b = d.tensor(type, adjY ? join(bBatch, columns, depth) : join(bBatch, depth, columns));
        boolean isLeftConstant = d.coin();
        int left = isLeftConstant ? d.inputOrConstant(a) : d.input(a);
        int right = isLeftConstant ? d.input(b) : d.inputOrConstant(b);
        d.output(d.tensor(type, join(batch, rows, columns)));
        d.operator(
                BuiltinOperator.BATCH_MATMUL,
                3,
                Options.table(BuiltinOptions.BatchMatMulOptions, Field.bool(0, adjX), Field.bool(1, adjY)),
                left,
                right);
    });

    static final List<OperatorCases> ALL = List.of(BATCH_MATMUL);

    private SequenceOperators() {}

    private static int[] join(int[] batch, int rows, int columns) {
        int[] shape = Arrays.copyOf(batch, batch.length + 2);
        shape[batch.length] = rows;
        shape[batch.length + 1] = columns;
        return shape;
    }
}
