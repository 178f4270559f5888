// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite.flatbuffer;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * Options of custom operators, stored as a FlexBuffer: a root map of numbers and strings. A FlexBuffer is read from its
 * end: the last byte is the width of the root, the byte before it the root's type with the width of its elements, and
 * the root itself precedes that. Offsets point backwards. The content is untrusted.
 */
public final class FlexBuffer {
    private static final int MAX_ENTRIES = 256;
    private static final int MAX_TEXT = 256;
    private static final int INT = 1;
    private static final int UINT = 2;
    private static final int FLOAT = 3;
    private static final int STRING = 5;
    private static final int INDIRECT = 5;
    private static final int MAP = 9;
    private static final int BOOL = 26;

    private final ByteBuffer data;
    private final Supplier<String> where;

    private FlexBuffer(Bytes content, Supplier<String> where) {
        this.data = content.buffer();
        this.where = where;
    }

    /**
     * The map in a buffer: integers and booleans as Long, other numbers as Double, text as String. Values of other
     * kinds are skipped, because no supported operator has such options.
     *
     * @param content empty for an operator without options
     * @param where the operator, for messages
     * @throws KilnException if the bytes are not a FlexBuffer
     */
    public static Map<String, Object> read(Bytes content, Supplier<String> where) {
        return content.size() == 0 ? Map.of() : new FlexBuffer(content, where).root();
    }

    private Map<String, Object> root() {
        int end = data.capacity();
        int width = end < 3 ? 0 : data.get(end - 1);
        if (width != 1 && width != 2 && width != 4 && width != 8) {
            throw corrupt("the last byte is not a width of 1, 2, 4 or 8 bytes", end - 1L);
        }
        int type = unsigned(data.get(end - 2));
        if (type >> 2 != MAP) {
            throw corrupt("the options are not a map", end - 2L);
        }
        return map(target(end - 2L - width, width), 1 << (type & 3));
    }

    /** A map's values are preceded by the position of its keys, the width of their offsets, and their number. */
    private Map<String, Object> map(long values, int width) {
        long count = size(values, width);
        long keys = target(values - 3L * width, width);
        long keyWidth = whole(values - 2L * width, width);
        if (keyWidth != 1 && keyWidth != 2 && keyWidth != 4 && keyWidth != 8) {
            throw corrupt("the width of keys is " + keyWidth, values - 2L * width);
        }
        if (count > MAX_ENTRIES || size(keys, (int) keyWidth) != count) {
            throw corrupt("a map of " + count + " values has another number of keys, or too many", values);
        }
        Map<String, Object> map = new TreeMap<>();
        for (int i = 0; i < count; i++) {
            String key = key(target(keys + i * keyWidth, (int) keyWidth));
            int type = unsigned(data.get(checked(values + count * width + i, 1)));
            Object value = value(values + (long) i * width, width, type >> 2, 1 << (type & 3));
            if (map.put(key, value) != null) {
                throw corrupt("the key " + key + " exists twice", keys);
            }
        }
        map.values().removeIf(value -> value.equals(Map.of()));
        return map;
    }

    /**
     * A value at a position, or at the target of the offset there; an empty map for anything other than a number or
     * text.
     */
    private Object value(long position, int width, int type, int ownWidth) {
        if (type == BOOL || type == INT || type == UINT) {
            return number(position, width, type == INT);
        }
        if (type == FLOAT) {
            return real(position, width);
        }
        if (type > STRING && type <= STRING + FLOAT) {
            return value(target(position, width), ownWidth, type - INDIRECT, ownWidth);
        }
        if (type == STRING) {
            long text = target(position, width);
            return text(text, size(text, ownWidth));
        }
        return Map.of();
    }

    private Object number(long position, int width, boolean signed) {
        long value = whole(position, width);
        if (!signed && value < 0) {
            throw corrupt("a number is too large", position);
        }
        int unused = Long.SIZE - Byte.SIZE * width;
        return signed ? value << unused >> unused : value;
    }

    private double real(long position, int width) {
        int at = checked(position, width);
        if (width < Float.BYTES) {
            throw corrupt("a floating point number has " + width + " bytes", position);
        }
        return width == Float.BYTES ? data.getFloat(at) : data.getDouble(at);
    }

    /** Text terminated by a zero byte. */
    private String key(long position) {
        int length = 0;
        while (data.get(checked(position + length, 1)) != 0) {
            length++;
        }
        return text(position, length);
    }

    private String text(long position, long length) {
        if (length < 0 || length > MAX_TEXT) {
            throw corrupt("a text has " + length + " bytes, more than " + MAX_TEXT, position);
        }
        byte[] bytes = new byte[(int) length];
        data.get(checked(position, length), bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** The number of elements that follow a position; each takes at least one byte. */
    private long size(long position, int width) {
        long size = whole(position - width, width);
        checked(position, size);
        return size;
    }

    private long target(long position, int width) {
        long offset = whole(position, width);
        return checked(offset < 0 ? -1 : position - offset, 1);
    }

    /** An unsigned integer. */
    private long whole(long position, int width) {
        int at = checked(position, width);
        return switch (width) {
            case 1 -> unsigned(data.get(at));
            case 2 -> Short.toUnsignedLong(data.getShort(at));
            case 4 -> Integer.toUnsignedLong(data.getInt(at));
            default -> data.getLong(at);
        };
    }

    private static int unsigned(byte value) {
        return Byte.toUnsignedInt(value);
    }

    private int checked(long position, long bytes) {
        if (position < 0 || bytes < 0 || bytes > data.capacity() || position > data.capacity() - bytes) {
            throw corrupt("something lies outside them", position);
        }
        return (int) position;
    }

    private KilnException corrupt(String what, long position) {
        return Failure.MODEL.exception(
                "its custom options are corrupt at byte " + position + ": " + what,
                where.get(),
                "a FlexBuffer that is a map",
                "Export the model again");
    }
}
