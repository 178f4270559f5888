// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import io.kiln.base.Bytes;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.arith.TflWideSoftmax;
import io.kiln.ir.op.layer.TflSoftmax;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ShortBuffer;
import java.util.List;
import java.util.stream.IntStream;

/**
 * SOFTMAX of int16 in TensorFlow Lite's library (activations.cc, SoftmaxPrepare): its tables are made in double precision, those of
 * TensorFlow Lite Micro (softmax_common.cc) in single precision. Two of the reciprocals differ.
 */
final class LibrarySoftmax {
    static final String DOUBLE_TABLES = "its tables are made in double precision";

    private LibrarySoftmax() {}

    static int[] reciprocals() {
        int[] reciprocals = TflWideSoftmax.reciprocals();
        reciprocals[160] = 24_967;
        reciprocals[294] = 20_815;
        return reciprocals;
    }

    static List<List<Bytes>> answers(Function function, List<List<Bytes>> inputs) {
        Binding softmax = function.bindings().stream()
                .filter(binding -> binding.op() instanceof TflSoftmax)
                .findFirst()
                .orElseThrow();
        QuantizedMultiplier by = TflWideSoftmax.multiplier(
                ((TflSoftmax) softmax.op()).beta(), softmax.constant(1).real(0));
        int depth = softmax.type().shape().dim(-1);
        return inputs.stream()
                .map(each -> List.of(answer(each.get(0), depth, by)))
                .toList();
    }

    private static Bytes answer(Bytes input, int depth, QuantizedMultiplier by) {
        ShortBuffer data = input.buffer().asShortBuffer();
        ByteBuffer answer = ByteBuffer.allocate(input.size()).order(ByteOrder.LITTLE_ENDIAN);
        int[] reciprocals = reciprocals();
        for (int row = 0; row < data.limit(); row += depth) {
            int[] values = IntStream.range(row, row + depth).map(data::get).toArray();
            int max = IntStream.of(values).max().orElseThrow();
            int[] terms = IntStream.of(values)
                    .map(value -> TflWideSoftmax.exponential(value - max, by))
                    .toArray();
            int sum = IntStream.of(terms).sum();
            int reciprocal = TflWideSoftmax.reciprocal(sum, reciprocals);
            IntStream.of(terms).forEach(term -> answer.putShort((short) TflWideSoftmax.result(term, reciprocal, sum)));
        }
        return Bytes.wrap(answer.array());
    }
}
