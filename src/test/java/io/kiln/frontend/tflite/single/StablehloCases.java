// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.single;

import static io.kiln.frontend.tflite.schema.BuiltinOperator.REDUCE_WINDOW;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_ADD;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_AND;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_CASE;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_GATHER;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MAXIMUM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MINIMUM;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_MULTIPLY;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_REDUCE_WINDOW;
import static io.kiln.frontend.tflite.schema.BuiltinOperator.STABLEHLO_SCATTER;
import static org.tensorflow.lite.schema.TensorType.BOOL;
import static org.tensorflow.lite.schema.TensorType.FLOAT32;
import static org.tensorflow.lite.schema.TensorType.INT16;
import static org.tensorflow.lite.schema.TensorType.INT32;
import static org.tensorflow.lite.schema.TensorType.INT64;
import static org.tensorflow.lite.schema.TensorType.INT8;

import io.kiln.frontend.tflite.LittleEndian;
import io.kiln.frontend.tflite.Options;
import io.kiln.frontend.tflite.Options.Field;
import io.kiln.frontend.tflite.TensorSpec;
import io.kiln.frontend.tflite.TfliteModelBuilder;
import io.kiln.frontend.tflite.schema.OperatorOptions.OptionsType;
import io.kiln.frontend.tflite.schema.StablehloOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Operators of StableHLO with windows or subgraphs. */
final class StablehloCases {
    static final List<OperatorCases> ALL = List.of(
            OperatorCases.of("STABLEHLO_GATHER", StablehloCases::gather),
            OperatorCases.of("STABLEHLO_SCATTER", StablehloCases::scatter),
            OperatorCases.of("STABLEHLO_REDUCE_WINDOW", StablehloCases::reduceWindow),
            OperatorCases.of("REDUCE_WINDOW", StablehloCases::plainReduceWindow),
            OperatorCases.of("STABLEHLO_CASE", StablehloCases::several));

    private StablehloCases() {}

    /** A tensor with windows in it: which of its dimensions windows have, and where these and the indices are in another tensor. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Windows(
            int[] data, int[] sizes, int[] named, int[] single, List<Integer> kept, int[] places, int[] dims) {
        /** @param sizes sizes of windows */
        static Windows draw(Draw d, int[] data, int[] sizes, List<Integer> batch) {
            List<Integer> axes =
                    new ArrayList<>(IntStream.range(0, data.length).boxed().toList());
            List<Integer> single =
                    axes.stream().filter(i -> sizes[i] == 1 && d.coin()).toList();
            List<Integer> kept = axes.stream().filter(i -> !single.contains(i)).toList();
            int named = d.between(1, data.length);
            for (int i = axes.size() - 1; i > 0; i--) {
                Collections.swap(axes, i, d.between(0, i));
            }
            int first = d.between(0, batch.size());
            int[] places = IntStream.range(0, kept.size()).map(i -> first + i).toArray();
            List<Integer> dims = new ArrayList<>(batch.subList(0, first));
            kept.forEach(i -> dims.add(sizes[i]));
            dims.addAll(batch.subList(first, batch.size()));
            return new Windows(data, sizes, array(axes.subList(0, named)), array(single), kept, places, array(dims));
        }
    }

    private static void gather(Draw d) {
        TensorSpec x = TensorSpec.of("x", d.oneOf(FLOAT32, INT8, INT16, INT32, INT64), d.shape(1, 3));
        int[] data = array(x.shape());
        int[] sizes = Arrays.stream(data)
                .map(size -> d.coin() ? 1 : d.between(1, size))
                .toArray();
        List<Integer> batch = batch(d);
        Windows windows = Windows.draw(d, data, sizes, batch);
        int in = d.input(x);
        int vector = d.between(0, batch.size());
        int indices = indices(d, windows, batch, vector);
        d.output(TensorSpec.of("y", x.type(), windows.dims));
        Options options = Options.table(
                type(StablehloOptions.StablehloGather.TYPE),
                Field.longs(0, longs(windows.places)),
                Field.longs(1, longs(windows.single)),
                Field.longs(2, longs(windows.named)),
                Field.int64(3, vector),
                Field.longs(4, longs(sizes)));
        d.operator(STABLEHLO_GATHER.code(), 1, options.later(), in, indices);
    }

    private static void scatter(Draw d) {
        int code = d.oneOf(
                0, STABLEHLO_ADD.code(), STABLEHLO_MULTIPLY.code(), STABLEHLO_MAXIMUM.code(), STABLEHLO_MINIMUM.code());
        byte type =
                code == 0 || code == STABLEHLO_ADD.code() ? d.oneOf(FLOAT32, INT32, INT64) : d.oneOf(FLOAT32, INT32);
        int[] data = d.shape(1, 3);
        int[] sizes = Arrays.stream(data)
                .map(size -> d.coin() ? 1 : d.between(1, size))
                .toArray();
        List<Integer> batch = batch(d);
        Windows windows = Windows.draw(d, data, sizes, batch);
        int in = d.inputOfNumbers(TensorSpec.of("x", type, data));
        int vector = d.between(0, batch.size());
        int indices = indices(d, windows, batch, vector);
        int updates = d.inputOfNumbers(TensorSpec.of("updates", type, windows.dims));
        int body = body(d.model(), code, type);
        d.output(TensorSpec.of("y", type, data));
        Options options = Options.table(
                type(StablehloOptions.StablehloScatter.TYPE),
                Field.longs(1, longs(windows.places)),
                Field.longs(2, longs(windows.single)),
                Field.longs(3, longs(windows.named)),
                Field.int64(4, vector),
                Field.int32(6, body));
        d.operator(STABLEHLO_SCATTER.code(), 1, options.later(), in, indices, updates);
    }

    /** Indices within the data, and some beyond its end: before its begin, TensorFlow Lite reads memory that is not the data's. */
    private static int indices(Draw d, Windows windows, List<Integer> batch, int vector) {
        List<Integer> dims = new ArrayList<>(batch);
        dims.add(vector, windows.named.length);
        int most = Arrays.stream(windows.named)
                        .map(i -> windows.data[i] - windows.sizes[i])
                        .min()
                        .orElse(0)
                + 2;
        return d.input(TensorSpec.of("indices", d.oneOf(INT32, INT64), array(dims)), 0, most);
    }

    private static List<Integer> batch(Draw d) {
        return IntStream.range(0, d.between(1, 2))
                .mapToObj(i -> d.between(1, 4))
                .toList();
    }

    private static void reduceWindow(Draw d) {
        int code = d.oneOf(
                STABLEHLO_ADD.code(),
                STABLEHLO_MULTIPLY.code(),
                STABLEHLO_MAXIMUM.code(),
                STABLEHLO_MINIMUM.code(),
                STABLEHLO_AND.code());
        byte type = code == STABLEHLO_AND.code() ? BOOL : d.oneOf(FLOAT32, INT8, INT16, INT32, INT64);
        TensorSpec x = TensorSpec.of("x", type, d.shape(1, 3));
        int rank = x.shape().size();
        long[] padding = new long[2 * rank];
        Reduced reduced = Reduced.draw(d, x, padding, 2);
        int[] in = {d.inputOfNumbers(x), d.add(d.constant(TensorSpec.of("first", type)))};
        int body = body(d.model(), code, type);
        d.output(TensorSpec.of("y", type, reduced.dims));
        Options options = Options.table(
                type(StablehloOptions.StablehloReduceWindow.TYPE),
                Field.longs(0, longs(reduced.sizes)),
                Field.longs(1, longs(reduced.strides)),
                Field.longs(2, longs(reduced.apart)),
                Field.longs(3, longs(reduced.dilations)),
                Field.longs(4, padding),
                Field.int32(5, body));
        d.operator(STABLEHLO_REDUCE_WINDOW.code(), 1, options.later(), in);
    }

    private static void plainReduceWindow(Draw d) {
        int function = d.between(1, 6);
        byte type = function > 4 ? BOOL : d.oneOf(FLOAT32, INT8, INT16, INT32, INT64);
        TensorSpec x = TensorSpec.of("x", type, d.shape(1, 3));
        Reduced reduced = Reduced.draw(d, x, new long[0], 1);
        int[] in = {
            d.inputOfNumbers(x),
            d.add(d.constant(TensorSpec.of("first", type))),
            d.add(int64("window", reduced.sizes)),
            d.add(int64("strides", reduced.strides)),
            d.add(int64("dilations", reduced.dilations))
        };
        d.output(TensorSpec.of("y", type, reduced.dims));
        Options options = Options.table(type(StablehloOptions.ReduceWindow.TYPE), Field.int32(0, function));
        d.operator(REDUCE_WINDOW.code(), 1, options.later(), in);
    }

    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Reduced(int[] sizes, int[] strides, int[] apart, int[] dilations, int[] dims) {
        /**
         * @param padding is filled, unless it is empty
         * @param mostApart most steps from one element of the data to the next
         */
        static Reduced draw(Draw d, TensorSpec x, long[] padding, int mostApart) {
            int rank = x.shape().size();
            Reduced all = new Reduced(new int[rank], new int[rank], new int[rank], new int[rank], new int[rank]);
            for (int i = 0; i < rank; i++) {
                all.strides[i] = d.between(1, 3);
                all.apart[i] = d.between(1, mostApart);
                all.dilations[i] = d.between(1, 2);
                int size = (x.shape().get(i) - 1) * all.apart[i] + 1;
                if (padding.length > 0) {
                    padding[2 * i] = d.between(size > 2 ? -1 : 0, 2);
                    padding[2 * i + 1] = d.between(size > 2 ? -1 : 0, 2);
                    size += (int) (padding[2 * i] + padding[2 * i + 1]);
                }
                all.sizes[i] = d.between(1, Math.min(3, (size - 1) / all.dilations[i] + 1));
                all.dims[i] = (size - (all.sizes[i] - 1) * all.dilations[i] - 1) / all.strides[i] + 1;
            }
            return all;
        }
    }

    /** One of up to four branches, also for indices that none has. */
    private static void several(Draw d) {
        byte type = d.oneOf(FLOAT32, INT32);
        int[] shape = d.shape(1, 3);
        TfliteModelBuilder m = d.model();
        int index = d.input(TensorSpec.of("index", INT32), -1, 4);
        int a = d.input(TensorSpec.of("a", type, shape));
        int b = d.input(TensorSpec.of("b", type, shape));
        int[] codes = {0, STABLEHLO_ADD.code(), STABLEHLO_MULTIPLY.code(), STABLEHLO_MAXIMUM.code()};
        int[] branches = IntStream.range(0, d.between(1, 4))
                .map(i -> body(m, codes[(i + d.between(0, 3)) % codes.length], type, shape))
                .toArray();
        d.output(TensorSpec.of("y", type, shape));
        Options options = Options.table(type(StablehloOptions.StablehloCase.TYPE), Field.ints(0, branches));
        d.operator(STABLEHLO_CASE.code(), 1, options.later(), index, a, b);
    }

    /** A subgraph of one operator, or of none, which returns its second input. */
    private static int body(TfliteModelBuilder m, int code, byte type, int... shape) {
        int index = m.nextSubgraph();
        int a = m.tensor(TensorSpec.of("lhs", type, shape));
        int b = m.tensor(TensorSpec.of("rhs", type, shape));
        int result = b;
        if (code != 0) {
            result = m.tensor(TensorSpec.of("combined", type, shape));
            m.operator(code, 1, Options.none(), new int[] {a, b}, result);
        }
        m.inputs(a, b).outputs(result);
        m.backToMain();
        return index;
    }

    private static TensorSpec int64(String name, int[] values) {
        return TensorSpec.of(name, INT64, values.length).withData(LittleEndian.ofLongs(longs(values)));
    }

    private static byte type(OptionsType type) {
        return (byte) type.code();
    }

    private static long[] longs(int[] values) {
        return Arrays.stream(values).asLongStream().toArray();
    }

    private static int[] array(List<Integer> values) {
        return values.stream().mapToInt(Integer::intValue).toArray();
    }
}
