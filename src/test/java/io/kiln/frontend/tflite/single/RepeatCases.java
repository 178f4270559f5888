// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static io.kiln.frontend.tflite.schema.BuiltinOperator.DILATE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_PAD;
import static org.tensorflow.lite.schema.TensorType.BOOL;
import static org.tensorflow.lite.schema.TensorType.FLOAT32;
import static org.tensorflow.lite.schema.TensorType.INT16;
import static org.tensorflow.lite.schema.TensorType.INT32;
import static org.tensorflow.lite.schema.TensorType.INT64;
import static org.tensorflow.lite.schema.TensorType.INT8;
import static org.tensorflow.lite.schema.TensorType.UINT8;

import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.schema.StablehloOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.BuiltinOptions;

/** Operators that put elements into other places, more than once or several into one. */
final class RepeatCases {
    static final List<OperatorCases> ALL = List.of(
            OperatorCases.of("TILE", d -> tile(d, d.oneOf(FLOAT32, INT8, UINT8, INT32, INT64, BOOL))),
            OperatorCases.of("TILE_INT16", d -> tile(d, INT16))
                    .withoutOracle("TensorFlow Lite 2.20 has no kernel of int16"),
            OperatorCases.of("REVERSE_SEQUENCE", RepeatCases::reverse),
            OperatorCases.of("SCATTER_ND", RepeatCases::scatter),
            OperatorCases.of("DILATE", RepeatCases::dilate),
            OperatorCases.of("STABLEHLO_PAD", RepeatCases::pad));

    private RepeatCases() {}

    private static void tile(Draw d, byte type) {
        TensorSpec x = d.tensor(type, d.shape(1, 4));
        int[] times = d.numbers(x.rank(), 1, 3);
        d.input(x);
        d.add(
                d.coin()
                        ? TensorSpec.int32("multiples", times)
                        : TensorSpec.int64(
                                "multiples", Arrays.stream(times).asLongStream().toArray()));
        d.compute(d.like(x), BuiltinOperator.TILE, 2, Options.none());
    }

    private static void reverse(Draw d) {
        TensorSpec x = d.tensor(d.oneOf(FLOAT32, UINT8, INT16, INT32, INT64), d.shape(2, 4));
        int time = d.between(0, x.rank() - 1);
        int batch = (time + d.between(1, x.rank() - 1)) % x.rank();
        d.input(x);
        d.input(
                TensorSpec.of("lengths", d.oneOf(INT32, INT64), x.shape().get(batch)),
                0,
                x.shape().get(time));
        Options options =
                Options.table(BuiltinOptions.ReverseSequenceOptions, Field.int32(0, time), Field.int32(1, batch));
        d.compute(d.like(x), BuiltinOperator.REVERSE_SEQUENCE, 1, options);
    }

    private static void scatter(Draw d) {
        byte type = d.oneOf(FLOAT32, INT8, UINT8, INT32, INT64, BOOL);
        int[] shape = d.shape(1, 3);
        int named = d.between(1, shape.length);
        int least = Arrays.stream(shape, 0, named).min().orElse(1);
        List<Integer> indices = new ArrayList<>();
        for (int i = d.between(1, 2); i > 0; i--) {
            indices.add(d.between(1, 5));
        }
        List<Integer> updates = new ArrayList<>(indices);
        Arrays.stream(shape, named, shape.length).forEach(updates::add);
        indices.add(named);
        d.input(TensorSpec.of("indices", INT32, indices), 0, least - 1);
        d.inputOfNumbers(TensorSpec.of("updates", type, updates));
        d.add(TensorSpec.int32("shape", shape));
        d.compute(TensorSpec.of("y", type), BuiltinOperator.SCATTER_ND, 1, Options.none());
    }

    private static void dilate(Draw d) {
        TensorSpec x = TensorSpec.of("x", d.oneOf(FLOAT32, INT8, INT16, INT32), d.shape(1, 3));
        d.input(x);
        d.add(TensorSpec.int32("dilations", d.numbers(x.rank(), 1, 3)));
        d.add(d.constant(TensorSpec.of("value", x.type())));
        d.compute(TensorSpec.of("y", x.type()), DILATE.code(), 1, Options.none());
    }

    private static void pad(Draw d) {
        TensorSpec x = TensorSpec.of("x", d.oneOf(FLOAT32, INT8, INT32), d.shape(1, 3));
        int rank = x.rank();
        long[] low = new long[rank];
        long[] high = new long[rank];
        long[] inner = new long[rank];
        for (int i = 0; i < rank; i++) {
            inner[i] = d.between(0, 2);
            long spread = (x.shape().get(i) - 1) * inner[i] + x.shape().get(i);
            low[i] = d.between(spread > 2 ? -1 : 0, 3);
            high[i] = d.between(spread > 2 ? -1 : 0, 3);
        }
        d.input(x);
        d.add(d.constant(TensorSpec.of("value", x.type())));
        byte type = (byte) StablehloOptions.StablehloPad.TYPE.code();
        Options options = Options.table(type, Field.longs(0, low), Field.longs(1, high), Field.longs(2, inner));
        d.compute(TensorSpec.of("y", x.type()), STABLEHLO_PAD.code(), 1, options.later());
    }
}
