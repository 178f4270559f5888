// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.frontend.ExternalData;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatBuffer.FlatVector;
import io.kiln.frontend.tflite.schema.ModelTables.Buffer;
import io.kiln.frontend.tflite.schema.ModelTables.ExternalBuffer;
import io.kiln.frontend.tflite.schema.ModelTables.Metadata;
import io.kiln.frontend.tflite.schema.ModelTables.Model;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** The model's buffers: the data of its constants, in the file or in files beside it. */
public final class TensorBuffers {
    private static final int HAS_NO_DATA = 0;

    private final FlatBuffer file;
    private static final int MAX_NAME = 1024;

    /** How often data of another file may be copied. */
    private static final long READS = 4;

    private final FlatVector buffers;
    private final FlatTable model;
    private final ExternalData external;

    /**
     * @param model the root of the file
     * @param external the files beside it
     */
    public TensorBuffers(FlatBuffer file, FlatTable model, ExternalData external) {
        this.file = file;
        this.buffers = model.get(Model.BUFFERS);
        this.model = model;
        this.external = external;
    }

    /** The files of a model's external buffers, by their names. */
    public static List<String> files(FlatTable model) {
        FlatVector groups = model.get(Model.EXTERNAL_BUFFER_GROUPS);
        return IntStream.range(0, groups.spent().size())
                .mapToObj(i -> groups.table(i).get(ExternalBuffer.GROUP_NAME, MAX_NAME))
                .toList();
    }

    private FlatVector beside(int id, PlaceFindings findings) {
        FlatVector all = model.get(Model.EXTERNAL_BUFFERS);
        List<String> files = files(model);
        for (int i = 0; i < all.spent().size(); i++) {
            FlatTable buffer = all.table(i);
            int group = buffer.get(ExternalBuffer.GROUP);
            if (buffer.get(ExternalBuffer.ID) == id && group >= 0 && group < files.size()) {
                long offset = buffer.get(ExternalBuffer.OFFSET);
                long length = buffer.get(ExternalBuffer.LENGTH);
                if (offset < 0 || length <= 0 || length > Integer.MAX_VALUE) {
                    break;
                }
                model.spend(length);
                String name = files.get(group);
                FlatBuffer data =
                        new FlatBuffer(name, external.read(name, offset, length, findings.where()), READS * length);
                return new FlatVector(data, 0, (int) length, 1);
            }
        }
        findings.add(
                "external buffer #" + Integer.toUnsignedString(id) + " does not exist, or has no bytes",
                "one of the model's " + all.size() + " external buffers",
                "Convert the model again");
        return new FlatVector(file, 0, 0, 1);
    }

    /**
     * The data of a tensor; empty if it is not a constant.
     *
     * @param tensor its table in the file
     * @param bytes required size of a constant
     */
    FlatVector data(FlatTable tensor, long bytes, PlaceFindings findings) {
        FlatVector data = data(tensor, findings);
        if (data.size() != 0 && data.size() != bytes) {
            findings.add(
                    "the constant has " + data.size() + " bytes",
                    bytes + " bytes for its shape and type",
                    "Export the model again");
        }
        return data;
    }

    /** The data of a tensor, of whatever size. Small models keep data inside the FlatBuffer; large ones after it, at an offset from the file's start. */
    FlatVector data(FlatTable table, PlaceFindings findings) {
        if (table.get(Tensor.EXTERNAL_BUFFER) != 0) {
            return beside(table.get(Tensor.EXTERNAL_BUFFER), findings);
        }
        long index = table.get(Tensor.BUFFER) & 0xFFFFFFFFL;
        if (index == HAS_NO_DATA) {
            return new FlatVector(file, 0, 0, 1);
        }
        if (index >= buffers.size()) {
            findings.add(
                    "buffer #" + index + " does not exist",
                    "one of the model's " + buffers.size() + " buffers",
                    "Export the model again");
            return new FlatVector(file, 0, 0, 1);
        }
        return stored((int) index);
    }

    /** What a tool left in the file under a name; empty if it has left nothing. */
    public Optional<FlatVector> metadata(String name) {
        FlatVector entries = model.get(Model.METADATA);
        for (int i = 0; i < entries.spent().size(); i++) {
            FlatTable entry = entries.table(i);
            int index = entry.get(Metadata.BUFFER);
            if (entry.get(Metadata.NAME, MAX_NAME).equals(name) && index > HAS_NO_DATA && index < buffers.size()) {
                return Optional.of(stored(index));
            }
        }
        return Optional.empty();
    }

    private FlatVector stored(int index) {
        FlatTable buffer = buffers.table(index);
        long offset = buffer.get(Buffer.OFFSET);
        long size = buffer.get(Buffer.SIZE);
        if (offset <= 1) {
            return buffer.get(Buffer.DATA);
        }
        if (size < 0 || size > file.size() || offset < 0 || offset > file.size() - size) {
            throw file.corrupt("buffer #" + index + " lies outside the file", offset);
        }
        return new FlatVector(file, (int) offset, (int) size, 1);
    }
}
