// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.reader;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.WireFormat;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.IOException;
import java.util.Set;

/**
 * Counts what a message would become in memory, before the protobuf library builds it: a few bytes of a file can be
 * an object, or a number of eight bytes.
 */
final class WireCheck {
    private static final int MAX_FIELDS = 1 << 19;
    private static final int MAX_PACKED_BYTES = 8 << 20;
    private static final int MAX_DEPTH = 64;

    /** Names stand in messages and in the generated C. */
    private static final int MAX_NAME_BYTES = 4096;

    /** Texts of any length, which nothing reads. */
    private static final Set<String> TEXTS = Set.of("onnx.StringStringEntryProto.value");

    private static final String DOCUMENTATION = "doc_string";

    private final String file;
    private int fields;
    private long packed;

    private WireCheck(String file) {
        this.file = file;
    }

    /**
     * Checks a file.
     *
     * @param type the file's message
     * @throws KilnException if it has too many or too deeply nested parts
     * @throws IOException if it is not a message
     */
    static void check(String file, byte[] content, Descriptor type) throws IOException {
        new WireCheck(file).scan(CodedInputStream.newInstance(content), type, 0);
    }

    private void scan(CodedInputStream input, Descriptor type, int depth) throws IOException {
        limit(depth, MAX_DEPTH, "levels of nested messages");
        while (!input.isAtEnd()) {
            int tag = input.readTag();
            if (tag == 0) {
                return;
            }
            limit(++fields, MAX_FIELDS, "fields");
            FieldDescriptor field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
            boolean isDelimited = WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
            if (field == null || !isDelimited) {
                input.skipField(tag);
            } else if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                int outer = input.pushLimit(input.readRawVarint32());
                scan(input, field.getMessageType(), depth + 1);
                input.popLimit(outer);
            } else {
                skip(input, field);
            }
        }
    }

    private void skip(CodedInputStream input, FieldDescriptor field) throws IOException {
        int length = input.readRawVarint32();
        if (isName(field)) {
            limit(length, MAX_NAME_BYTES, "bytes in a name (" + field.getName() + ")");
        }
        if (field.isPackable()) {
            packed += isFixed(field) ? 0 : length;
            limit(packed, MAX_PACKED_BYTES, "bytes of packed integers");
        }
        input.skipRawBytes(length);
    }

    private static boolean isName(FieldDescriptor field) {
        return field.getType() == FieldDescriptor.Type.STRING
                && !field.getName().equals(DOCUMENTATION)
                && !TEXTS.contains(field.getFullName());
    }

    private static boolean isFixed(FieldDescriptor field) {
        return field.getType() == FieldDescriptor.Type.FLOAT || field.getType() == FieldDescriptor.Type.DOUBLE;
    }

    private void limit(long value, long most, String what) {
        if (value > most) {
            throw new KilnException(Failure.MODEL.problem(
                    "the file has more than " + most + " " + what, file, "a model for a microcontroller", ""));
        }
    }
}
