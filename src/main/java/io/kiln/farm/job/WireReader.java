// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Reads what strangers may have written: nothing is allocated before its bytes are known to be there, so that reading takes no more memory than a
 * small multiple of the message's size.
 */
final class WireReader {
    private static final int LONGEST_TEXT = 1 << 16;

    private final ByteBuffer buffer;

    WireReader(Bytes content) {
        this.buffer = content.buffer().order(ByteOrder.BIG_ENDIAN);
    }

    long number() {
        if (buffer.remaining() < Long.BYTES) {
            throw malformed("it ends early");
        }
        return buffer.getLong();
    }

    /**
     * The first eight bytes of a message, its form: a name and a digit.
     *
     * @param what the message is, for the error
     */
    void form(long expected, String what) {
        long form = number();
        if (form == expected) {
            return;
        }
        boolean isOther = form >>> Byte.SIZE == expected >>> Byte.SIZE;
        throw malformed(
                isOther ? "it has the form " + name(form) + " in place of " + name(expected) : "it is not " + what);
    }

    private static String name(long form) {
        String letters =
                new String(ByteBuffer.allocate(Long.BYTES).putLong(form).array(), StandardCharsets.US_ASCII);
        return letters.replaceAll("[^A-Z0-9]", "?");
    }

    /** A number from 0 to a largest. */
    int number(int most) {
        long value = number();
        if (value < 0 || value > most) {
            throw malformed("the number " + value + " is not in 0 to " + most);
        }
        return (int) value;
    }

    double real() {
        return Double.longBitsToDouble(number());
    }

    boolean flag() {
        return number(1) == 1;
    }

    Bytes bytes() {
        return Bytes.wrap(content(Integer.MAX_VALUE));
    }

    private byte[] content(int most) {
        int size = number(most);
        if (size > buffer.remaining()) {
            throw malformed("it ends early");
        }
        byte[] content = new byte[size];
        buffer.get(content);
        return content;
    }

    String text() {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(content(LONGEST_TEXT)))
                    .toString();
        } catch (CharacterCodingException e) {
            throw malformed("a text is not UTF-8");
        }
    }

    /** A list of entries, each of which takes at least the eight bytes of a number. */
    <T> List<T> list(Supplier<T> each) {
        int size = number(buffer.remaining() / Long.BYTES);
        List<T> values = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            values.add(each.get());
        }
        return values;
    }

    void end() {
        if (buffer.hasRemaining()) {
            throw malformed(buffer.remaining() + " bytes are left over");
        }
    }

    static KilnException malformed(String why) {
        return Failure.FARM.exception(
                "a message of the farm is malformed: " + why,
                "",
                "a message of the same version of Kiln",
                "Use one version of Kiln for the broker, the workers and the builds");
    }

    /** Writes what a {@link WireReader} reads: big-endian numbers of eight bytes, texts and bytes after their length, lists after their size. */
    static final class WireWriter {
        private final ByteArrayOutputStream content = new ByteArrayOutputStream();
        private final DataOutputStream out = new DataOutputStream(content);

        WireWriter number(long value) {
            return write(() -> out.writeLong(value));
        }

        WireWriter real(double value) {
            return number(Double.doubleToRawLongBits(value));
        }

        WireWriter flag(boolean value) {
            return number(value ? 1 : 0);
        }

        WireWriter bytes(Bytes value) {
            number(value.size());
            return write(() -> out.write(value.toArray()));
        }

        WireWriter text(String value) {
            return bytes(Bytes.wrap(value.getBytes(StandardCharsets.UTF_8)));
        }

        <T> WireWriter list(List<T> values, Consumer<T> each) {
            number(values.size());
            values.forEach(each);
            return this;
        }

        Bytes content() {
            return Bytes.wrap(content.toByteArray());
        }

        @FunctionalInterface
        private interface Action {
            void run() throws IOException;
        }

        private WireWriter write(Action action) {
            try {
                action.run();
                return this;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
