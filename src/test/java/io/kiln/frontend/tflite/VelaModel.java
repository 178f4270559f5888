// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Bytes;
import io.kiln.npu.CommandWords;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.tensorflow.lite.schema.BuiltinOperator;
import org.tensorflow.lite.schema.TensorType;

/**
 * A model as Vela leaves it: a part for the NPU, a maximum pool that stayed on the core, and another part for the NPU. The first part
 * computes two tensors, of which the second is an output; each part limits what it reads, so that tests know the answers.
 */
public final class VelaModel {
    /** Configuration words of payloads. */
    public static final int U55_128 = 0x1807;

    public static final int U55_256 = 0x3008;

    public static final int U85_256 = 0x20000008;

    /** Rows, columns and channels of the input. */
    public static final int ROWS = 4;

    public static final int COLUMNS = 4;
    public static final int CHANNELS = 8;

    private static final int INPUT_BYTES = ROWS * COLUMNS * CHANNELS;
    private static final int POOLED_BYTES = INPUT_BYTES / 4;
    private static final int ARENA = 512;

    private static final int NEW_IN_U85 = 0x12E;
    private static final int WAIT = 0x012;

    private VelaModel() {}

    /**
     * The model.
     *
     * @param configuration word of the NPU that it is for
     */
    public static TfliteModelBuilder mixed(int configuration) {
        return mixed(configuration, 384, OptionalInt.empty());
    }

    /**
     * The model with other places of what the core computes.
     *
     * @param border place of the tensor that the second part reads
     * @param inner place of a tensor between two pools on the core; empty for a single pool
     */
    public static TfliteModelBuilder mixed(int configuration, int border, OptionalInt inner) {
        Bytes first = new CommandWords()
                .clamp(0, 128, ROWS, COLUMNS, CHANNELS, -10, 127)
                .clamp(0, 256, ROWS, COLUMNS, CHANNELS, -128, 5)
                .payload(configuration);
        Bytes second = new CommandWords()
                .clamp(border, 0, ROWS / 2, COLUMNS / 2, CHANNELS, -128, 20)
                .narrow(configuration == U85_256 ? NEW_IN_U85 : WAIT, 0)
                .payload(configuration);
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int flash = bytes(builder, "flash", new byte[16]);
        int scratch = memory(builder, "scratch");
        int fast = memory(builder, "scratch_fast");
        int firstStream = bytes(builder, "command_stream", first.toArray());
        int secondStream = bytes(builder, "command_stream_1", second.toArray());
        int x = map(builder, "x", ROWS);
        int a = map(builder, "a", ROWS);
        int b = map(builder, "b", ROWS);
        int pooled = map(builder, "pooled", ROWS / 2);
        int y = map(builder, "y", ROWS / 2);
        Bytes options = Bytes.wrap(new byte[] {1, 4, 1});
        builder.custom("ethos-u", options, new int[] {firstStream, flash, scratch, fast, x}, a, b);
        int between = inner.isPresent() ? map(builder, "between", ROWS / 2) : pooled;
        pool(builder, 2, a, between);
        if (inner.isPresent()) {
            pool(builder, 1, between, pooled);
        }
        Bytes plan = inner.isPresent()
                ? plan(-1, 0, 0, -1, -1, 0, 128, 256, border, 0, inner.getAsInt())
                : plan(-1, 0, 0, -1, -1, 0, 128, 256, border, 0);
        return builder.custom("ethos-u", options, new int[] {secondStream, flash, scratch, fast, pooled}, y)
                .inputs(x)
                .outputs(y, b)
                .metadata("OfflineMemoryAllocation", plan);
    }

    /** A maximum over windows that do not overlap. */
    private static void pool(TfliteModelBuilder builder, int window, int from, int to) {
        builder.operator(
                BuiltinOperator.MAX_POOL_2D,
                1,
                Options.pool((byte) 1, window, window, window, window, (byte) 0),
                new int[] {from},
                to);
    }

    /** The model as it was before Vela: what the parts for the NPU compute are minima and maxima with constants. */
    public static TfliteModelBuilder original() {
        TfliteModelBuilder builder = new TfliteModelBuilder();
        int x = map(builder, "x", ROWS);
        int a = map(builder, "a", ROWS);
        int b = map(builder, "b", ROWS);
        int pooled = map(builder, "pooled", ROWS / 2);
        int y = map(builder, "y", ROWS / 2);
        limit(builder, BuiltinOperator.MAXIMUM, x, -10, a);
        limit(builder, BuiltinOperator.MINIMUM, x, 5, b);
        builder.operator(
                BuiltinOperator.MAX_POOL_2D, 1, Options.pool((byte) 1, 2, 2, 2, 2, (byte) 0), new int[] {a}, pooled);
        limit(builder, BuiltinOperator.MINIMUM, pooled, 20, y);
        return builder.inputs(x).outputs(y, b);
    }

    private static void limit(TfliteModelBuilder builder, int operator, int from, int value, int to) {
        int constant =
                builder.tensor(TensorSpec.int8("limit_" + value, 1f, 0, 1).withData((byte) value));
        builder.operator(operator, 1, Options.none(), new int[] {from, constant}, to);
    }

    /** What the model answers: the second output behind the first. */
    public static Bytes answer(Bytes input) {
        List<Byte> answer = new ArrayList<>();
        for (int i = 0; i < POOLED_BYTES; i++) {
            int channel = i % CHANNELS;
            int column = i / CHANNELS % (COLUMNS / 2);
            int row = i / CHANNELS / (COLUMNS / 2);
            int most = -128;
            for (int j = 0; j < 4; j++) {
                int at = ((2 * row + j / 2) * COLUMNS + 2 * column + j % 2) * CHANNELS + channel;
                most = Math.max(most, Math.max(-10, input.get(at)));
            }
            answer.add((byte) Math.min(20, most));
        }
        for (int i = 0; i < INPUT_BYTES; i++) {
            answer.add((byte) Math.min(5, input.get(i)));
        }
        byte[] bytes = new byte[answer.size()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = answer.get(i);
        }
        return Bytes.wrap(bytes);
    }

    /** A plan as Vela writes it, with a place for each tensor. */
    public static Bytes plan(int... places) {
        ByteBuffer plan =
                ByteBuffer.allocate((3 + places.length) * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        plan.putInt(0).putInt(1).putInt(places.length);
        for (int place : places) {
            plan.putInt(place);
        }
        return Bytes.wrap(plan.array());
    }

    private static int bytes(TfliteModelBuilder builder, String name, byte[] data) {
        return builder.tensor(TensorSpec.of(name, TensorType.UINT8, data.length).withData(data));
    }

    private static int memory(TfliteModelBuilder builder, String name) {
        return builder.tensor(TensorSpec.of(name, TensorType.UINT8, ARENA));
    }

    private static int map(TfliteModelBuilder builder, String name, int rows) {
        return builder.tensor(TensorSpec.int8(name, 1f, 0, 1, rows, rows, CHANNELS));
    }
}
