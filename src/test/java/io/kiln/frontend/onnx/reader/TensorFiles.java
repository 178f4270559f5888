// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import ai.onnx.proto.OnnxMl.TensorProto;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.kiln.frontend.ExternalData;
import io.kiln.frontend.onnx.model.OnnxTensor;
import io.kiln.frontend.onnx.reader.ModelReader.ReadBudget;
import java.util.List;

/** Single tensors in files, as in the ONNX project's test data. */
public final class TensorFiles {
    private TensorFiles() {}

    private static final int VALUE_OF_OPTIONAL = 3;
    private static final int RAW_DATA = 9;

    /** The tensor in a message of type {@code OptionalProto}; another message as it is. */
    private static byte[] unwrapped(byte[] content) throws InvalidProtocolBufferException {
        UnknownFieldSet fields = UnknownFieldSet.parseFrom(content);
        List<ByteString> values = fields.getField(VALUE_OF_OPTIONAL).getLengthDelimitedList();
        return fields.hasField(RAW_DATA) || values.size() != 1
                ? content
                : values.get(0).toByteArray();
    }

    /**
     * The tensor of a file.
     *
     * @param isBrain whether integers of 16 bits are the bits of bfloat16
     */
    public static OnnxTensor read(byte[] content, String name, boolean isBrain) {
        try {
            TensorProto tensor = TensorProto.parseFrom(unwrapped(content));
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
