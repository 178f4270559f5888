// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import io.kiln.ir.type.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

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
        1e-44f,
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

    /** Bytes of a constant that are changed one word after the other. */
    private static final int MOST_WORDS = 32;

    /** Numbers of fields in the schema. */
    private static final class Field {
        static final int SUBGRAPHS = 2;
        static final int BUFFERS = 4;
        static final int TENSORS = 0;
        static final int INPUTS = 1;
        static final int OUTPUTS = 2;
        static final int OPERATORS = 3;
        static final int SHAPE = 0;
        static final int TYPE = 1;
        static final int BUFFER = 2;
        static final int NAME = 3;
        static final int QUANTIZATION = 4;
        static final int SCALE = 2;
        static final int ZERO_POINT = 3;
        static final int OPERATOR_INPUTS = 1;
        static final int OPERATOR_OUTPUTS = 2;
        static final int OPTIONS = 4;
        static final int DATA = 0;
    }

    private final Random random;
    private final ByteBuffer file;

    private ModelMutations(long seed, Bytes model) {
        this.random = new Random(seed);
        this.file = ByteBuffer.wrap(model.toArray()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** One of the models with one to three changes. */
    static Bytes next(long seed, List<Bytes> models) {
        Random choice = new Random(~seed);
        ModelMutations mutations = new ModelMutations(seed, models.get(choice.nextInt(models.size())));
        for (int changes = 1 + choice.nextInt(3); changes > 0; changes--) {
            mutations.change();
        }
        return Bytes.wrap(mutations.file.array());
    }

    /** Name and shape of the first input of a model, if it has one of positive dimensions. */
    static Optional<Map.Entry<String, Shape>> firstInput(Bytes model) {
        ModelMutations reader = new ModelMutations(0, model);
        int graph = reader.element(reader.vector(reader.file.getInt(0), Field.SUBGRAPHS), 0);
        int inputs = reader.vector(graph, Field.INPUTS);
        int tensors = reader.vector(graph, Field.TENSORS);
        int index = reader.size(inputs) == 0 ? -1 : reader.file.getInt(inputs + 4);
        if (index < 0 || index >= reader.size(tensors)) {
            return Optional.empty();
        }
        int tensor = reader.element(tensors, index);
        int shape = reader.vector(tensor, Field.SHAPE);
        int name = reader.vector(tensor, Field.NAME);
        List<Integer> dims = IntStream.range(0, reader.size(shape))
                .mapToObj(i -> reader.file.getInt(shape + 4 + 4 * i))
                .toList();
        byte[] text = new byte[reader.size(name)];
        reader.file.get(name + 4, text);
        return name == 0 || dims.stream().anyMatch(dim -> dim < 1)
                ? Optional.empty()
                : Optional.of(Map.entry(new String(text, StandardCharsets.UTF_8), new Shape(dims)));
    }

    /** The model as often as its main graph's tensors have dimensions, each time with another value for one of them. */
    static List<Bytes> withEachDimension(Bytes model, int value) {
        ModelMutations reader = new ModelMutations(0, model);
        int graph = reader.element(reader.vector(reader.file.getInt(0), Field.SUBGRAPHS), 0);
        int tensors = reader.vector(graph, Field.TENSORS);
        List<Bytes> changed = new ArrayList<>();
        for (int i = 0; i < reader.size(tensors); i++) {
            int shape = reader.vector(reader.element(tensors, i), Field.SHAPE);
            for (int d = 0; d < reader.size(shape); d++) {
                byte[] file = model.toArray();
                ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(shape + 4 + 4 * d, value);
                changed.add(Bytes.wrap(file));
            }
        }
        return changed;
    }

    /** The model as often as its small constants have words, each time with another value for one of them: axes, shapes, sizes. */
    static List<Bytes> withEachWord(Bytes model, int value) {
        ModelMutations reader = new ModelMutations(0, model);
        int buffers = reader.vector(reader.file.getInt(0), Field.BUFFERS);
        List<Bytes> changed = new ArrayList<>();
        for (int i = 0; i < reader.size(buffers); i++) {
            int data = reader.vector(reader.element(buffers, i), Field.DATA);
            for (int at = 0; at + 4 <= Math.min(reader.size(data), MOST_WORDS); at += 4) {
                byte[] file = model.toArray();
                ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(data + 4 + at, value);
                changed.add(Bytes.wrap(file));
            }
        }
        return changed;
    }

    /** The model as often as its operators' options have fields, each time with another value for one of them. */
    static List<Bytes> withEachOption(Bytes model, int value) {
        ModelMutations reader = new ModelMutations(0, model);
        int graph = reader.element(reader.vector(reader.file.getInt(0), Field.SUBGRAPHS), 0);
        int operators = reader.vector(graph, Field.OPERATORS);
        List<Bytes> changed = new ArrayList<>();
        for (int i = 0; i < reader.size(operators); i++) {
            int options = reader.table(reader.element(operators, i), Field.OPTIONS);
            int vtable = options == 0 ? 0 : options - reader.file.getInt(options);
            for (int slot = 4; options > 0 && slot < reader.file.getShort(vtable); slot += 2) {
                int offset = reader.file.getShort(vtable + slot);
                byte[] file = model.toArray();
                if (offset % 4 == 0) {
                    ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(options + offset, value);
                } else {
                    file[options + offset] = (byte) value;
                }
                if (offset > 0) {
                    changed.add(Bytes.wrap(file));
                }
            }
        }
        return changed;
    }

    private void change() {
        int subgraphs = vector(file.getInt(0), Field.SUBGRAPHS);
        int graph = element(subgraphs, random.nextInt(10) > 0 ? 0 : random.nextInt(size(subgraphs)));
        int tensors = vector(graph, Field.TENSORS);
        int tensor = element(tensors, random.nextInt(size(tensors)));
        int operators = vector(graph, Field.OPERATORS);
        int operator = size(operators) == 0 ? 0 : element(operators, random.nextInt(size(operators)));
        switch (random.nextInt(14)) {
            case 0, 1 -> changeInt(vector(tensor, Field.SHAPE));
            case 2 -> changeByte(place(tensor, Field.TYPE), TYPES[random.nextInt(TYPES.length)]);
            case 3, 4 -> changeScale(table(tensor, Field.QUANTIZATION));
            case 5 -> changeZeroPoint(table(tensor, Field.QUANTIZATION));
            case 6, 7 -> changeData(tensor);
            case 8, 9, 10 -> changeOption(operator);
            case 11 -> changeOperand(operator, size(tensors));
            case 12 ->
                changeOperand(vector(graph, random.nextBoolean() ? Field.INPUTS : Field.OUTPUTS), size(tensors), 0);
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
        if (size(vector) > 0) {
            int at = vector + 4 + 4 * random.nextInt(size(vector));
            file.putInt(at, near(file.getInt(at)));
        }
    }

    private void changeByte(int place, byte value) {
        if (place > 0) {
            file.put(place, value);
        }
    }

    private void changeScale(int quantization) {
        int scales = quantization == 0 ? 0 : vector(quantization, Field.SCALE);
        if (size(scales) > 0) {
            int at = scales + 4 + 4 * random.nextInt(size(scales));
            float old = file.getFloat(at);
            file.putFloat(
                    at,
                    random.nextInt(3) == 0
                            ? SCALES[random.nextInt(SCALES.length)]
                            : old * (float) Math.exp(random.nextGaussian() * 6));
        }
    }

    private void changeZeroPoint(int quantization) {
        int zeroPoints = quantization == 0 ? 0 : vector(quantization, Field.ZERO_POINT);
        if (size(zeroPoints) > 0) {
            file.putLong(
                    zeroPoints + 4 + 8 * random.nextInt(size(zeroPoints)),
                    ZERO_POINTS[random.nextInt(ZERO_POINTS.length)]);
        }
    }

    /** Elements of a constant as bytes, small numbers or extreme floats; or the constant of another tensor. */
    private void changeData(int tensor) {
        int place = place(tensor, Field.BUFFER);
        int buffers = vector(file.getInt(0), Field.BUFFERS);
        if (place == 0 || file.getInt(place) < 0 || file.getInt(place) >= size(buffers)) {
            return;
        }
        if (random.nextInt(6) == 0) {
            file.putInt(place, random.nextInt(size(buffers)));
            return;
        }
        int data = vector(element(buffers, file.getInt(place)), Field.DATA);
        for (int changes = size(data) < 4 ? 0 : 1 + random.nextInt(3); changes > 0; changes--) {
            int at = data + 4 + (random.nextInt(size(data) - 3) & ~3);
            switch (random.nextInt(3)) {
                case 0 -> file.put(at + random.nextInt(4), (byte) random.nextInt());
                case 1 -> file.putInt(at, near(file.getInt(at)));
                default -> file.putFloat(at, SCALES[random.nextInt(SCALES.length)]);
            }
        }
    }

    /** Any scalar of the options; without the schema's types: a byte, an int32 or a float. */
    private void changeOption(int operator) {
        int options = operator == 0 ? 0 : table(operator, Field.OPTIONS);
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
            changeOperand(vector(operator, isInput ? Field.OPERATOR_INPUTS : Field.OPERATOR_OUTPUTS), tensors, -1);
        }
    }

    /** Another tensor for an operand; or none, or one operand fewer. */
    private void changeOperand(int vector, int tensors, int least) {
        if (size(vector) > 0) {
            if (random.nextInt(8) == 0) {
                file.putInt(vector, size(vector) - 1);
                return;
            }
            file.putInt(vector + 4 + 4 * random.nextInt(size(vector)), least + random.nextInt(tensors - least + 1));
        }
    }

    /** One fewer, one twice, or two in the other order. */
    private void changeOperators(int operators) {
        int count = size(operators);
        if (count == 0) {
            return;
        }
        int one = random.nextInt(count);
        int other = random.nextInt(count);
        int first = element(operators, one);
        int second = element(operators, other);
        switch (random.nextInt(3)) {
            case 0 -> {
                point(operators, one, element(operators, count - 1));
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

    private int size(int vector) {
        return vector == 0 ? 0 : file.getInt(vector);
    }

    /** The table at an index of a vector. */
    private int element(int vector, int index) {
        int slot = vector + 4 + 4 * index;
        return slot + file.getInt(slot);
    }

    /** Where a field's value lies; 0 if the table leaves it out. */
    private int place(int table, int field) {
        int vtable = table - file.getInt(table);
        int offset = 4 + 2 * field < file.getShort(vtable) ? file.getShort(vtable + 4 + 2 * field) : 0;
        return offset == 0 ? 0 : table + offset;
    }

    private int vector(int table, int field) {
        int place = place(table, field);
        return place == 0 ? 0 : place + file.getInt(place);
    }

    private int table(int table, int field) {
        return vector(table, field);
    }
}
