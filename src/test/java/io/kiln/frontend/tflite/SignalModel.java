// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Bytes;
import io.kiln.ir.Function;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.tensorflow.lite.schema.TensorType;

/** A model of one custom operator, which the interpreter runs. */
final class SignalModel {
    private final TfliteModelBuilder builder = new TfliteModelBuilder();
    private final TensorSpec data;
    private final int x;

    SignalModel(byte type, int... shape) {
        data = TensorSpec.of("x", type, shape);
        x = builder.tensor(data);
    }

    /** The operator with the data and, if there are any, weights. */
    Running with(String code, Map<String, Object> options, int[] weights, TensorSpec... outputs) {
        int[] in = weights.length == 0
                ? new int[] {x}
                : new int[] {
                    x,
                    builder.tensor(TensorSpec.of("w", data.type(), weights.length)
                            .withData(bytes(data.type(), weights).toArray()))
                };
        int[] out = Arrays.stream(outputs).mapToInt(builder::tensor).toArray();
        Function function = builder.custom(code, FlexOptions.of(options), in, out)
                .inputs(x)
                .outputs(out)
                .read();
        return new Running(data.type(), function, Interpreter.State.initial(function), List.of(outputs));
    }

    Running with(String code, Map<String, Object> options, TensorSpec... outputs) {
        return with(code, options, new int[0], outputs);
    }

    /** A model that remembers. */
    record Running(byte type, Function function, Interpreter.State state, List<TensorSpec> outputs) {
        /** All results, one behind the other. */
        double[] run(int... data) {
            return run(bytes(type, data));
        }

        double[] run(Bytes data) {
            List<Bytes> results = Interpreter.run(function, List.of(data), state);
            return IntStream.range(0, results.size())
                    .boxed()
                    .flatMapToDouble(i -> Arrays.stream(
                            numbers(outputs.get(i).type(), results.get(i).buffer())))
                    .toArray();
        }
    }

    private static Bytes bytes(byte type, int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length * (type == TensorType.INT16 ? 2 : 4))
                .order(ByteOrder.LITTLE_ENDIAN);
        for (int value : values) {
            switch (type) {
                case TensorType.INT16 -> buffer.putShort((short) value);
                case TensorType.FLOAT32 -> buffer.putFloat(value);
                default -> buffer.putInt(value);
            }
        }
        return Bytes.wrap(buffer.array());
    }

    /** Elements of a tensor; a negative zero is one without a sign. */
    private static double[] numbers(byte type, ByteBuffer buffer) {
        int width = type == TensorType.BOOL ? 1 : type == TensorType.INT16 ? 2 : 4;
        return IntStream.range(0, buffer.capacity() / width)
                .mapToDouble(i -> switch (type) {
                    case TensorType.BOOL -> buffer.get(i);
                    case TensorType.INT16 -> buffer.getShort(2 * i);
                    case TensorType.FLOAT32 -> buffer.getFloat(4 * i) + 0.0;
                    default -> buffer.getInt(4 * i);
                })
                .toArray();
    }

    /** A tensor that the operator computes. */
    static TensorSpec output(byte type, int... shape) {
        return TensorSpec.of(type == TensorType.BOOL ? "valid" : "y" + type, type, shape);
    }
}
