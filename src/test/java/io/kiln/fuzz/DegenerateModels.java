// SPDX-License-Identifier: Apache-2.0
package io.kiln.fuzz;

import io.kiln.base.Bytes;
import io.kiln.frontend.tflite.schema.ModelTables.Buffer;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.schema.ModelTables.Operator;
import io.kiln.frontend.tflite.schema.ModelTables.SubGraph;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** A model in as many variants as it has numbers of a kind, each with another value for one of them. */
final class DegenerateModels {
    /** Bytes of a constant that are changed one word after the other. */
    private static final int MOST_WORDS = 32;

    private DegenerateModels() {}

    /** The model as often as its main graph's tensors have dimensions, each time with another value for one of them. */
    static List<Bytes> withEachDimension(Bytes model, int value) {
        WritableModel reader = new WritableModel(model);
        int graph = reader.element(reader.vector(reader.root(), Model.SUBGRAPHS), 0);
        int tensors = reader.vector(graph, SubGraph.TENSORS);
        List<Bytes> changed = new ArrayList<>();
        for (int i = 0; i < reader.size(tensors); i++) {
            int shape = reader.vector(reader.element(tensors, i), Tensor.SHAPE);
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
        WritableModel reader = new WritableModel(model);
        int buffers = reader.vector(reader.root(), Model.BUFFERS);
        List<Bytes> changed = new ArrayList<>();
        for (int i = 0; i < reader.size(buffers); i++) {
            int data = reader.vector(reader.element(buffers, i), Buffer.DATA);
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
        WritableModel reader = new WritableModel(model);
        int graph = reader.element(reader.vector(reader.root(), Model.SUBGRAPHS), 0);
        int operators = reader.vector(graph, SubGraph.OPERATORS);
        List<Bytes> changed = new ArrayList<>();
        for (int i = 0; i < reader.size(operators); i++) {
            int options = reader.table(reader.element(operators, i), Operator.BUILTIN_OPTIONS);
            int vtable = options == 0 ? 0 : options - reader.file().getInt(options);
            for (int slot = 4; options > 0 && slot < reader.file().getShort(vtable); slot += 2) {
                int offset = reader.file().getShort(vtable + slot);
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
}
