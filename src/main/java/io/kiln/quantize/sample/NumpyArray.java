// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize.sample;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.type.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An array of NumPy's format {@code .npy}, versions 1 to 3: a magic number, the length of a header, the header as a
 * Python dictionary {@code {'descr': '<f4', 'fortran_order': False, 'shape': (200, 49, 10, 1), }}, then the elements.
 *
 * @param shape its dimensions
 * @param code type of its elements, such as {@code <f4}
 * @param elements the elements as in the file
 */
record NumpyArray(Shape shape, String code, ByteBuffer elements) {
    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
    private static final int MAX_HEADER = 1 << 16;
    private static final int MAX_RANK = 9;
    private static final Pattern DESCR = Pattern.compile("'descr'\\s*:\\s*'([<>|=][a-zA-Z][0-9]{1,3})'");
    private static final Pattern ORDER = Pattern.compile("'fortran_order'\\s*:\\s*(True|False)");
    private static final Pattern SHAPE = Pattern.compile("'shape'\\s*:\\s*\\(([0-9, ]{0,200})\\)");

    /**
     * Reads an array.
     *
     * @param where the file for messages
     * @throws KilnException if it is not such an array, or of a type that samples cannot have
     */
    static NumpyArray read(Bytes file, String where) {
        ByteBuffer buffer = file.buffer();
        for (byte magic : MAGIC) {
            if (!buffer.hasRemaining() || buffer.get() != magic) {
                throw wrong("this is no .npy file", where);
            }
        }
        String header = header(buffer, where);
        String code = find(DESCR, header, where);
        if (find(ORDER, header, where).equals("True")) {
            throw wrong("the array is in Fortran's order", where);
        }
        Shape shape = shape(find(SHAPE, header, where), where);
        long bytes = shape.elements() * width(code, where);
        if (bytes != buffer.remaining()) {
            throw wrong(
                    "the array " + shape.text() + " of " + code + " needs " + bytes + " bytes, but "
                            + buffer.remaining() + " follow its header",
                    where);
        }
        return new NumpyArray(shape, code, buffer.slice().order(ByteOrder.LITTLE_ENDIAN));
    }

    private static String header(ByteBuffer buffer, String where) {
        if (buffer.remaining() < 6) {
            throw wrong("the file is truncated", where);
        }
        int version = buffer.get();
        buffer.get();
        int length = version == 1 ? buffer.getShort() & 0xFFFF : buffer.getInt();
        if (version < 1 || version > 3 || length < 0 || length > Math.min(MAX_HEADER, buffer.remaining())) {
            throw wrong("the header is corrupt or truncated", where);
        }
        byte[] text = new byte[length];
        buffer.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static String find(Pattern pattern, String header, String where) {
        Matcher matcher = pattern.matcher(header);
        if (!matcher.find()) {
            throw wrong("the header has no valid entry " + pattern.pattern().substring(0, 8), where);
        }
        return matcher.group(1);
    }

    private static Shape shape(String text, String where) {
        List<Integer> dims = new ArrayList<>();
        double elements = 1;
        for (String dim : text.split(",", -1)) {
            if (!dim.isBlank()) {
                if (dim.strip().length() > 9 || dims.size() == MAX_RANK) {
                    throw wrong("the shape (" + text + ") is not supported", where);
                }
                dims.add(Integer.valueOf(dim.strip()));
                elements *= dims.get(dims.size() - 1);
            }
        }
        if (elements > SampleReader.MAX_BYTES) {
            throw SampleReader.tooLarge(where);
        }
        return new Shape(dims);
    }

    private static int width(String code, String where) {
        return switch (code) {
            case "|u1", "|i1", "|b1" -> 1;
            case "<i2" -> 2;
            case "<f4", "<i4" -> 4;
            case "<f8", "<i8" -> 8;
            default -> throw wrong("elements of type " + code + " are not supported", where);
        };
    }

    private static KilnException wrong(String what, String where) {
        return Failure.QUANTIZE.exception(
                what,
                where,
                "a little-endian array in C order of float32, float64 or integers",
                "Write it with numpy.save(file, numpy.ascontiguousarray(samples, dtype='<f4'))");
    }

    /**
     * Elements in the type of a model's input; float64 is rounded to float32.
     *
     * @throws KilnException if an integer input's elements are of another type
     */
    Bytes elements(int first, int count, DType dtype, String where) {
        ByteBuffer out = ByteBuffer.allocate(count * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        if (!dtype.isFloat()) {
            requireType(dtype, where);
            out.put(elements.slice(first * dtype.bytes(), count * dtype.bytes()));
            return Bytes.wrap(out.array());
        }
        for (int i = first; i < first + count; i++) {
            out.putFloat(real(i));
        }
        return Bytes.wrap(out.array());
    }

    private void requireType(DType dtype, String where) {
        String wanted = switch (dtype) {
            case INT8 -> "|i1";
            case UINT8 -> "|u1";
            case BOOL -> "|b1";
            case INT16 -> "<i2";
            case INT32 -> "<i4";
            case INT64 -> "<i8";
            default -> "none";
        };
        if (!code.equals(wanted)) {
            throw Failure.QUANTIZE.exception(
                    "the array is of type " + code, where, wanted + " for an input of " + dtype.text(), "");
        }
    }

    private float real(int index) {
        return switch (code) {
            case "|u1", "|b1" -> elements.get(index) & 0xFF;
            case "|i1" -> elements.get(index);
            case "<i2" -> elements.getShort(2 * index);
            case "<i4" -> elements.getInt(4 * index);
            case "<i8" -> elements.getLong(8 * index);
            case "<f4" -> elements.getFloat(4 * index);
            default -> (float) elements.getDouble(8 * index);
        };
    }
}
