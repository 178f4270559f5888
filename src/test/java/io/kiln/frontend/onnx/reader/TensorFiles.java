// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.InvalidProtocolBufferException;
import io.kiln.frontend.onnx.model.OnnxTensor;

/** Single tensors in files, as in the ONNX project's test data. */
public final class TensorFiles {
    private TensorFiles() {}

    /**
     * The tensor of a file.
     *
     * @param isBrain whether integers of 16 bits are the bits of bfloat16
     */
    public static OnnxTensor read(byte[] content, String name, boolean isBrain) {
        try {
            TensorProto tensor = TensorProto.parseFrom(content);
            if (isBrain && tensor.getDataType() == TensorProto.DataType.UINT16_VALUE) {
                tensor = tensor.toBuilder()
                        .setDataType(TensorProto.DataType.BFLOAT16_VALUE)
                        .build();
            }
            return new OnnxTensorReader(ExternalData.NONE, new ReadBudget(name, Integer.MAX_VALUE)).read(tensor, name);
        } catch (InvalidProtocolBufferException e) {
            throw new IllegalArgumentException(name, e);
        }
    }
}
