// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.schema.ModelTables.Buffer;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.schema.ModelTables.Operator;
import io.kiln.frontend.tflite.schema.ModelTables.QuantizationParameters;
import io.kiln.frontend.tflite.schema.ModelTables.SubGraph;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;

/**
 * Changes what a TFLite model says and not how its file is built: shapes, types, scales, zero points, constants, operands, options, and
 * which operators there are. The same seed changes in the same way.
 */
final class ModelMutations {
    private static final int[] SMALL = {0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 255, -1, -2, -128};
    private static final int[] LARGE = {1 << 16, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE};
    private static final long[] ZERO_POINTS = {0, -128, 127, 128, 255, 1, -1, 32767, -32768, Integer.MAX_VALUE, 1L << 40
    };
    private static final float[] SCALES = {
        Float.MIN_VALUE,
        9.8e-45f,
        1e-38f,
        1e-20f,
        1e-12f,
        1e-9f,
        1e-6f,
        0.5f,
        1,
        2,
        1e6f,
        1e20f,
        Float.MAX_VALUE,
        0,
        -1,
        Float.NaN,
        Float.POSITIVE_INFINITY
    };
    private static final byte[] TYPES = {0, 1, 2, 3, 4, 6, 7, 9, 15, 16, 17};

    private final Random random;
    private final WritableModel tables;
    private final ByteBuffer file;

    private ModelMutations(long seed, Bytes model) {
        this.random = new Random(seed);
        this.tables = new WritableModel(model);
        this.file = tables.file();
    }

    /** One of the models with one to three changes. */
    static Bytes next(long seed, List<Bytes> models) {
        Random choice = new Random(~seed);
        ModelMutations mutations = new ModelMutations(seed, models.get(choice.nextInt(models.size())));
        for (int changes = 1 + choice.nextInt(3); changes > 0; changes--) {
            mutations.change();
        }
        return mutations.tables.bytes();
    }

    private void change() {
        int subgraphs = tables.vector(tables.root(), Model.SUBGRAPHS);
        int graph = tables.element(subgraphs, random.nextInt(10) > 0 ? 0 : random.nextInt(tables.size(subgraphs)));
        int tensors = tables.vector(graph, SubGraph.TENSORS);
        int tensor = tables.element(tensors, random.nextInt(tables.size(tensors)));
        int operators = tables.vector(graph, SubGraph.OPERATORS);
        int operator =
                tables.size(operators) == 0 ? 0 : tables.element(operators, random.nextInt(tables.size(operators)));
        switch (random.nextInt(14)) {
            case 0, 1 -> changeInt(tables.vector(tensor, Tensor.SHAPE));
            case 2 -> changeByte(tables.place(tensor, Tensor.TYPE), TYPES[random.nextInt(TYPES.length)]);
            case 3, 4 -> changeScale(tables.table(tensor, Tensor.QUANTIZATION));
            case 5 -> changeZeroPoint(tables.table(tensor, Tensor.QUANTIZATION));
            case 6, 7 -> changeData(tensor);
            case 8, 9, 10 -> changeOption(operator);
            case 11 -> changeOperand(operator, tables.size(tensors));
            case 12 ->
                changeOperand(
                        tables.vector(graph, random.nextBoolean() ? SubGraph.INPUTS : SubGraph.OUTPUTS),
                        tables.size(tensors),
                        0);
            default -> changeOperators(operators);
        }
    }

    private int number() {
        return random.nextInt(12) == 0 ? LARGE[random.nextInt(LARGE.length)] : SMALL[random.nextInt(SMALL.length)];
    }

    /** Another number, often one near the one that stands there. */
    private int near(int old) {
        return switch (random.nextInt(4)) {
            case 0 -> old + 1;
            case 1 -> old - 1;
            case 2 -> old * 2;
            default -> number();
        };
    }

    private void changeInt(int vector) {
        if (tables.size(vector) > 0) {
            int at = vector + 4 + 4 * random.nextInt(tables.size(vector));
            file.putInt(at, near(file.getInt(at)));
        }
    }

    private void changeByte(int place, byte value) {
        if (place > 0) {
            file.put(place, value);
        }
    }

    private void changeScale(int quantization) {
        int scales = quantization == 0 ? 0 : tables.vector(quantization, QuantizationParameters.SCALE);
        if (tables.size(scales) > 0) {
            int at = scales + 4 + 4 * random.nextInt(tables.size(scales));
            float old = file.getFloat(at);
            file.putFloat(
                    at,
                    random.nextInt(3) == 0
                            ? SCALES[random.nextInt(SCALES.length)]
                            : old * (float) Math.exp(random.nextGaussian() * 6));
        }
    }

    private void changeZeroPoint(int quantization) {
        int zeroPoints = quantization == 0 ? 0 : tables.vector(quantization, QuantizationParameters.ZERO_POINT);
        if (tables.size(zeroPoints) > 0) {
            file.putLong(
                    zeroPoints + 4 + 8 * random.nextInt(tables.size(zeroPoints)),
                    ZERO_POINTS[random.nextInt(ZERO_POINTS.length)]);
        }
    }

    /** Elements of a constant as bytes, small numbers or extreme floats; or the constant of another tensor. */
    private void changeData(int tensor) {
        int place = tables.place(tensor, Tensor.BUFFER);
        int buffers = tables.vector(tables.root(), Model.BUFFERS);
        if (place == 0 || file.getInt(place) < 0 || file.getInt(place) >= tables.size(buffers)) {
            return;
        }
        if (random.nextInt(6) == 0) {
            file.putInt(place, random.nextInt(tables.size(buffers)));
            return;
        }
        int data = tables.vector(tables.element(buffers, file.getInt(place)), Buffer.DATA);
        for (int changes = tables.size(data) < 4 ? 0 : 1 + random.nextInt(3); changes > 0; changes--) {
            int at = data + 4 + (random.nextInt(tables.size(data) - 3) & ~3);
            switch (random.nextInt(3)) {
                case 0 -> file.put(at + random.nextInt(4), (byte) random.nextInt());
                case 1 -> file.putInt(at, near(file.getInt(at)));
                default -> file.putFloat(at, SCALES[random.nextInt(SCALES.length)]);
            }
        }
    }

    /** Any scalar of the options; without the schema's types: a byte, an int32 or a float. */
    private void changeOption(int operator) {
        int options = operator == 0 ? 0 : tables.table(operator, Operator.BUILTIN_OPTIONS);
        if (options == 0) {
            return;
        }
        int vtable = options - file.getInt(options);
        int fields = (file.getShort(vtable) - 4) / 2;
        int inline = file.getShort(vtable + 2);
        int offset = fields == 0 ? 0 : file.getShort(vtable + 4 + 2 * random.nextInt(fields));
        if (offset == 0) {
            return;
        }
        boolean isWord = offset % 4 == 0 && offset + 4 <= inline;
        switch (random.nextInt(isWord ? 3 : 1)) {
            case 0 -> file.put(options + offset, (byte) number());
            case 1 -> file.putInt(options + offset, near(file.getInt(options + offset)));
            default -> file.putFloat(options + offset, SCALES[random.nextInt(SCALES.length)]);
        }
    }

    private void changeOperand(int operator, int tensors) {
        if (operator > 0) {
            boolean isInput = random.nextInt(4) > 0;
            changeOperand(tables.vector(operator, isInput ? Operator.INPUTS : Operator.OUTPUTS), tensors, -1);
        }
    }

    /** Another tensor for an operand; or none, or one operand fewer. */
    private void changeOperand(int vector, int tensors, int least) {
        if (tables.size(vector) > 0) {
            if (random.nextInt(8) == 0) {
                file.putInt(vector, tables.size(vector) - 1);
                return;
            }
            file.putInt(
                    vector + 4 + 4 * random.nextInt(tables.size(vector)), least + random.nextInt(tensors - least + 1));
        }
    }

    /** One fewer, one twice, or two in the other order. */
    private void changeOperators(int operators) {
        int count = tables.size(operators);
        if (count == 0) {
            return;
        }
        int one = random.nextInt(count);
        int other = random.nextInt(count);
        int first = tables.element(operators, one);
        int second = tables.element(operators, other);
        switch (random.nextInt(3)) {
            case 0 -> {
                point(operators, one, tables.element(operators, count - 1));
                file.putInt(operators, count - 1);
            }
            case 1 -> point(operators, one, second);
            default -> {
                point(operators, one, second);
                point(operators, other, first);
            }
        }
    }

    private void point(int vector, int index, int table) {
        int slot = vector + 4 + 4 * index;
        file.putInt(slot, table - slot);
    }
}
