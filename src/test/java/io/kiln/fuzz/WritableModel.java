// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.Field;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.schema.ModelTables.SubGraph;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import io.kiln.ir.type.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Finds the tables and vectors of a TFLite model by their numbers in the schema; the model must be well built. */
final class WritableModel {
    private final ByteBuffer file;

    WritableModel(Bytes model) {
        this.file = ByteBuffer.wrap(model.toArray()).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** The model's bytes, to be changed in place. */
    ByteBuffer file() {
        return file;
    }

    /** The model as it is now. */
    Bytes bytes() {
        byte[] bytes = new byte[file.capacity()];
        file.get(0, bytes);
        return Bytes.wrap(bytes);
    }

    /** The model's first table. */
    int root() {
        return file.getInt(0);
    }

    /** Name and shape of the first input of a model, if it has one of positive dimensions. */
    static Optional<Map.Entry<String, Shape>> firstInput(Bytes model) {
        WritableModel reader = new WritableModel(model);
        int graph = reader.element(reader.vector(reader.file.getInt(0), Model.SUBGRAPHS), 0);
        int inputs = reader.vector(graph, SubGraph.INPUTS);
        int tensors = reader.vector(graph, SubGraph.TENSORS);
        int index = reader.size(inputs) == 0 ? -1 : reader.file.getInt(inputs + 4);
        if (index < 0 || index >= reader.size(tensors)) {
            return Optional.empty();
        }
        int tensor = reader.element(tensors, index);
        int shape = reader.vector(tensor, Tensor.SHAPE);
        int name = reader.vector(tensor, Tensor.NAME);
        List<Integer> dims = IntStream.range(0, reader.size(shape))
                .mapToObj(i -> reader.file.getInt(shape + 4 + 4 * i))
                .toList();
        byte[] text = new byte[reader.size(name)];
        reader.file.get(name + 4, text);
        return name == 0 || dims.stream().anyMatch(dim -> dim < 1)
                ? Optional.empty()
                : Optional.of(Map.entry(new String(text, StandardCharsets.UTF_8), new Shape(dims)));
    }

    int size(int vector) {
        return vector == 0 ? 0 : file.getInt(vector);
    }

    /** The table at an index of a vector. */
    int element(int vector, int index) {
        int slot = vector + 4 + 4 * index;
        return slot + file.getInt(slot);
    }

    /** Where a field's value lies; 0 if the table leaves it out. */
    int place(int table, Field field) {
        int vtable = table - file.getInt(table);
        int offset =
                4 + 2 * field.number() < file.getShort(vtable) ? file.getShort(vtable + 4 + 2 * field.number()) : 0;
        return offset == 0 ? 0 : table + offset;
    }

    int vector(int table, Field field) {
        int place = place(table, field);
        return place == 0 ? 0 : place + file.getInt(place);
    }

    int table(int table, Field field) {
        return vector(table, field);
    }
}
