// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.tensor;

import io.kiln.frontend.tflite.flatbuffer.FlatBuffer;
import io.kiln.frontend.tflite.flatbuffer.FlatTable;
import io.kiln.frontend.tflite.flatbuffer.FlatVector;
import io.kiln.frontend.tflite.schema.ModelTables.Buffer;
import io.kiln.frontend.tflite.schema.ModelTables.Tensor;

/** The model's buffers: the data of its constants. */
final class TensorBuffers {
    private static final int HAS_NO_DATA = 0;

    private final FlatBuffer file;
    private final FlatVector buffers;

    TensorBuffers(FlatBuffer file, FlatVector buffers) {
        this.file = file;
        this.buffers = buffers;
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
        FlatTable buffer = buffers.table((int) index);
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
