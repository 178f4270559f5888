// SPDX-License-Identifier: Apache-2.0
package io.kiln.farm.job;

import io.kiln.base.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

/** Writes what a {@link WireReader} reads: big-endian numbers of eight bytes, texts and bytes after their length, lists after their size. */
final class WireWriter {
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
